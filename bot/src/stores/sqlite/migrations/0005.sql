-- What is remembered. What each channel is about, and how far its records were read for each purpose.
CREATE TABLE memory_channel (
    room TEXT PRIMARY KEY,
    body TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE memory_marks (
    room TEXT PRIMARY KEY,
    summarized INTEGER NOT NULL,
    reflected INTEGER NOT NULL,
    heard INTEGER NOT NULL
) WITHOUT ROWID;

-- People, and the messages on which what is known of them rests.
CREATE TABLE memory_person (
    id TEXT PRIMARY KEY,
    seen INTEGER NOT NULL,
    body TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX memory_person_seen ON memory_person (seen);
CREATE TABLE memory_person_message (
    room TEXT NOT NULL,
    message TEXT NOT NULL,
    person TEXT NOT NULL,
    PRIMARY KEY (room, message, person)
) WITHOUT ROWID;
CREATE INDEX memory_person_message_person ON memory_person_message (person);

-- Who wishes not to be remembered: a number made of the id, which tells nobody who it is.
CREATE TABLE memory_out (person INTEGER PRIMARY KEY);

-- Facts, whose words they rest on, and which messages.
CREATE TABLE memory_fact (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    room TEXT NOT NULL,
    body TEXT NOT NULL
);
CREATE INDEX memory_fact_room ON memory_fact (room);
CREATE TABLE memory_fact_person (
    person TEXT NOT NULL,
    fact INTEGER NOT NULL,
    PRIMARY KEY (person, fact)
) WITHOUT ROWID;
CREATE INDEX memory_fact_person_fact ON memory_fact_person (fact);
CREATE TABLE memory_fact_message (
    room TEXT NOT NULL,
    message TEXT NOT NULL,
    fact INTEGER NOT NULL,
    PRIMARY KEY (room, message, fact)
) WITHOUT ROWID;
CREATE INDEX memory_fact_message_fact ON memory_fact_message (fact);

-- The words of facts, segmented by ourselves and parted by spaces; `place` says who may read them. What is deleted leaves
-- the index at once.
CREATE VIRTUAL TABLE memory_words USING fts5 (
    place, words,
    tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co'"
);
INSERT INTO memory_words (memory_words, rank) VALUES ('secure-delete', 1);
-- How many facts hold a word: the index would have to count.
CREATE TABLE memory_word (
    word TEXT PRIMARY KEY,
    facts INTEGER NOT NULL
) WITHOUT ROWID;

-- What facts mean to a model. The signs of a vector, close together for each house or room, are looked through first.
CREATE TABLE memory_vector (
    fact INTEGER PRIMARY KEY,
    model TEXT NOT NULL,
    vector BLOB NOT NULL
);
CREATE TABLE memory_sign (
    place INTEGER NOT NULL,
    fact INTEGER NOT NULL,
    model INTEGER NOT NULL,
    signs BLOB NOT NULL,
    PRIMARY KEY (place, fact)
) WITHOUT ROWID;
CREATE INDEX memory_sign_fact ON memory_sign (fact);
