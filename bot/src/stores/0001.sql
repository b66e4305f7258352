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

-- The talk of the web room. `seq` counts changes: a page that knows its last one is told everything since.
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
    heard INTEGER NOT NULL DEFAULT 0,
    body TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX web_message_seq ON web_message (room, seq);
CREATE INDEX web_message_first ON web_message (room, first_seq);
CREATE INDEX web_message_unheard ON web_message (first_seq) WHERE heard = 0;
