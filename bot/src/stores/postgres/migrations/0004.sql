-- An expression of an index is sampled like a column, and this one has what people are called. What was sampled goes with the index.
DROP INDEX journal_person;
CREATE INDEX journal_person ON journal (person, coalesce(name, '')) WHERE person IS NOT NULL;
ALTER INDEX journal_person ALTER COLUMN 2 SET STATISTICS 0;
-- What people called their rooms, and who they were. A change of the type, even to the same one, drops what was sampled.
ALTER TABLE web_room ALTER COLUMN name TYPE TEXT COLLATE "C", ALTER COLUMN opened_by TYPE TEXT COLLATE "C";
ALTER TABLE web_room ALTER COLUMN name SET STATISTICS 0, ALTER COLUMN opened_by SET STATISTICS 0;
