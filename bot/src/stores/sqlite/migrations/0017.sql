-- The index holds each word together with where it may be read: `tea~1f3a9`, the last digits of the house, or of the room for
-- what was not said in public. What a house has of a word lies together, and a search goes through no facts of other houses.
CREATE VIRTUAL TABLE memory_scoped USING fts5 (
    place, day, words, beside,
    tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co'"
);
INSERT INTO memory_scoped (memory_scoped, rank) VALUES ('secure-delete', 1);
INSERT INTO memory_scoped (rowid, place, day, words, beside)
    SELECT rowid, place, day,
        iif(words = '', '', replace(words, ' ', '~' || substr(place, -5) || ' ') || '~' || substr(place, -5)),
        iif(beside = '', '', replace(beside, ' ', '~' || substr(place, -5) || ' ') || '~' || substr(place, -5))
    FROM memory_index ORDER BY rowid;
DROP TABLE memory_index;
ALTER TABLE memory_scoped RENAME TO memory_index;

-- Nothing is looked up there any more.
DROP TABLE memory_fact_place;
