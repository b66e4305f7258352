-- Up to which record of the journal long memory has counted people and followed deletions.
CREATE TABLE keeper (seq INTEGER NOT NULL);
INSERT INTO keeper VALUES (0);
-- Rooms it is no longer in, and since when: forgotten after a while, unless it comes back.
CREATE TABLE keeper_left (
    room TEXT PRIMARY KEY,
    at INTEGER NOT NULL
) WITHOUT ROWID;
-- The talk of one room, without reading that of all others.
CREATE INDEX journal_room ON journal (room, seq);
