-- The words of a fact and of what was said around it, so that a search does not cut texts into words again. Empty for facts
-- of earlier versions, which are brought up to date as their rooms change.
ALTER TABLE memory_fact ADD COLUMN terms TEXT NOT NULL DEFAULT '';
CREATE INDEX memory_fact_without_terms ON memory_fact (room) WHERE terms = '';

-- The messages around those that a fact rests on: their words go when they do.
CREATE TABLE memory_fact_context (
    room TEXT NOT NULL,
    message TEXT NOT NULL,
    fact INTEGER NOT NULL,
    PRIMARY KEY (room, message, fact)
) WITHOUT ROWID;

-- The index also knows the words around a fact, and its day and month.
CREATE VIRTUAL TABLE memory_index USING fts5 (
    place, day, words, beside,
    tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co'"
);
INSERT INTO memory_index (memory_index, rank) VALUES ('secure-delete', 1);
INSERT INTO memory_index (rowid, place, day, words, beside) SELECT rowid, place, '', words, '' FROM memory_words;
DROP TABLE memory_words;

-- A few rare words of each fact, as numbers: facts that say nearly the same share most of them.
CREATE TABLE memory_sketch (
    room INTEGER NOT NULL,
    word INTEGER NOT NULL,
    fact INTEGER NOT NULL,
    PRIMARY KEY (room, word, fact)
) WITHOUT ROWID;

-- The signs of vectors, many facts to a row: a house is looked through in few reads. They are made anew from the vectors.
CREATE TABLE memory_signs (
    id INTEGER PRIMARY KEY,
    place INTEGER NOT NULL,
    model INTEGER NOT NULL,
    block INTEGER NOT NULL,
    entries BLOB NOT NULL,
    UNIQUE (place, model, block)
);
DROP TABLE memory_sign;
