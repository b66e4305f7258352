-- What the journal of this store is called, by nothing but chance: positions in it, and ids of the web room, mean nothing in
-- another one. It goes along with the journal into copies and backups.
CREATE TABLE journal_id (id TEXT NOT NULL);
INSERT INTO journal_id VALUES (lower(hex(randomblob(16))));
