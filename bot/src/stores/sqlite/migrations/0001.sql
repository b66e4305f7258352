-- Everything that happened, in the order in which it was handled. `sum` is a checksum of `body`.
CREATE TABLE journal (
    seq INTEGER PRIMARY KEY,
    shard INTEGER NOT NULL,
    at INTEGER NOT NULL,
    room TEXT,
    body TEXT NOT NULL,
    sum INTEGER NOT NULL
);
CREATE INDEX journal_at ON journal (at);

-- The state of each engine after the record `seq`; what came before it need not be read at a start.
CREATE TABLE snapshot (
    shard INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    policies TEXT NOT NULL,
    body TEXT NOT NULL
);

-- What was decided about each message, and why.
CREATE TABLE trace (
    room TEXT NOT NULL,
    message TEXT NOT NULL,
    at INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (room, message)
) WITHOUT ROWID;
CREATE INDEX trace_at ON trace (at);

-- The talk of the web room. `seq` counts changes of all rooms together: a page that knows its last one is told
-- everything since. `first_seq` is the message's place in its room.
CREATE TABLE web_counter (seq INTEGER NOT NULL);
INSERT INTO web_counter VALUES (0);
CREATE TABLE web_room (
    name TEXT PRIMARY KEY,
    opened INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE web_message (
    id TEXT PRIMARY KEY,
    room TEXT NOT NULL,
    seq INTEGER NOT NULL,
    first_seq INTEGER NOT NULL,
    key TEXT UNIQUE,
    body TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX web_message_seq ON web_message (seq);
CREATE INDEX web_message_room_seq ON web_message (room, seq);
CREATE INDEX web_message_first ON web_message (room, first_seq);

-- What was stored and not yet heard by the engine: written with the change itself, gone when the journal has it.
CREATE TABLE web_unheard (
    seq INTEGER PRIMARY KEY,
    body TEXT NOT NULL
);

-- Who is who: the secret a browser tab comes back with, and the id that others may see.
CREATE TABLE web_person (
    secret TEXT PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    seen INTEGER NOT NULL
) WITHOUT ROWID;
-- Who has been in a room, so that they can be mentioned there.
CREATE TABLE web_member (
    room TEXT NOT NULL,
    person TEXT NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (room, person)
) WITHOUT ROWID;
