-- What the journal of this store is called, by nothing but chance: positions in it, and ids of the web room, mean nothing in
-- another one. It goes along with the journal into copies and backups.
CREATE TABLE journal_id (id TEXT COLLATE "C" NOT NULL);
INSERT INTO journal_id VALUES (replace(gen_random_uuid()::text, '-', ''));
