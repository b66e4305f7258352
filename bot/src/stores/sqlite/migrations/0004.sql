-- What came from Slack. `key` is the same however often it comes; `body` is gone once the engine has heard it.
CREATE TABLE slack_event (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    thread TEXT,
    body TEXT
);
CREATE INDEX slack_event_untold ON slack_event (seq) WHERE body IS NOT NULL;
CREATE INDEX slack_event_at ON slack_event (at);

-- The channels it heard, and the last message of each: from there on a gap is filled.
CREATE TABLE slack_channel (
    id TEXT PRIMARY KEY,
    last TEXT NOT NULL
) WITHOUT ROWID;

-- What was posted: written down before it goes out, with Slack's id once it is out.
CREATE TABLE slack_post (
    key TEXT PRIMARY KEY,
    begun INTEGER NOT NULL,
    ts TEXT
) WITHOUT ROWID;
CREATE INDEX slack_post_begun ON slack_post (begun);
