-- The state of each engine after its record `seq`, the last that was let go of: from here on the journal can be lived again.
CREATE TABLE base (
    shard INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    policies TEXT NOT NULL,
    body TEXT NOT NULL
);
