-- Up to which record of the journal long memory has counted people and followed deletions.
CREATE TABLE keeper (seq INTEGER NOT NULL);
INSERT INTO keeper VALUES (0);
-- The talk of one room, without reading that of all others.
CREATE INDEX journal_room ON journal (room, seq);
