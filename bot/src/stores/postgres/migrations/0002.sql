-- What is remembered. What each channel is about, and how far its records were read for each purpose.
CREATE TABLE memory_channel (
    room TEXT COLLATE "C" PRIMARY KEY,
    body TEXT COLLATE "C" NOT NULL
);
CREATE TABLE memory_marks (
    room TEXT COLLATE "C" PRIMARY KEY,
    summarized BIGINT NOT NULL,
    reflected BIGINT NOT NULL,
    heard BIGINT NOT NULL
);

-- People, the messages on which what is known of them rests, and who answers whom.
CREATE TABLE memory_person (
    id TEXT COLLATE "C" PRIMARY KEY,
    seen BIGINT NOT NULL,
    body TEXT COLLATE "C" NOT NULL
);
CREATE INDEX memory_person_seen ON memory_person (seen);
CREATE TABLE memory_person_message (
    room TEXT COLLATE "C" NOT NULL,
    message TEXT COLLATE "C" NOT NULL,
    person TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (room, message, person)
);
CREATE INDEX memory_person_message_person ON memory_person_message (person);
CREATE TABLE memory_tie (
    room TEXT COLLATE "C" NOT NULL,
    answering TEXT COLLATE "C" NOT NULL,
    answered TEXT COLLATE "C" NOT NULL,
    body TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (room, answering, answered)
);
CREATE INDEX memory_tie_answering ON memory_tie (answering);
CREATE INDEX memory_tie_answered ON memory_tie (answered);

-- Who wishes not to be remembered: a number made of the id, which tells nobody who it is.
CREATE TABLE memory_out (person BIGINT PRIMARY KEY);

-- Facts. `terms` are the words of a fact and of what was said around it; `tokens` are those it is found by, with its day and
-- month; `places` are where it may be read.
CREATE SEQUENCE memory_fact_number;
CREATE TABLE memory_fact (
    id BIGINT PRIMARY KEY,
    room TEXT COLLATE "C" NOT NULL,
    body TEXT COLLATE "C" NOT NULL,
    terms TEXT COLLATE "C" NOT NULL,
    tokens TEXT[] COLLATE "C" NOT NULL,
    places BIGINT[] NOT NULL
);
CREATE INDEX memory_fact_room ON memory_fact (room);
CREATE INDEX memory_fact_tokens ON memory_fact USING gin (tokens, places) WITH (fastupdate = off);
CREATE TABLE memory_fact_person (
    person TEXT COLLATE "C" NOT NULL,
    fact BIGINT NOT NULL,
    PRIMARY KEY (person, fact)
);
CREATE INDEX memory_fact_person_fact ON memory_fact_person (fact);
-- The messages on which a fact rests, and those that were said around them.
CREATE TABLE memory_fact_message (
    room TEXT COLLATE "C" NOT NULL,
    message TEXT COLLATE "C" NOT NULL,
    fact BIGINT NOT NULL,
    PRIMARY KEY (room, message, fact)
);
CREATE INDEX memory_fact_message_fact ON memory_fact_message (fact);
-- How many facts have a word.
CREATE TABLE memory_word (
    word TEXT COLLATE "C" PRIMARY KEY,
    facts BIGINT NOT NULL
);
-- A few rare words of each fact, as numbers: facts that say nearly the same share most of them.
CREATE TABLE memory_sketch (
    room BIGINT NOT NULL,
    word BIGINT NOT NULL,
    fact BIGINT NOT NULL,
    PRIMARY KEY (room, word, fact)
);
CREATE INDEX memory_sketch_fact ON memory_sketch (fact);

-- What facts mean to a model. Where the extension pgvector is installed, a column `embedding` has the same again, to search by.
CREATE TABLE memory_vector (
    fact BIGINT PRIMARY KEY,
    model TEXT COLLATE "C" NOT NULL,
    numbers INTEGER NOT NULL,
    vector BYTEA NOT NULL,
    places BIGINT[] NOT NULL
);
CREATE INDEX memory_vector_places ON memory_vector USING gin (places) WITH (fastupdate = off);

ALTER TABLE memory_channel ALTER COLUMN body SET STATISTICS 0;
ALTER TABLE memory_person ALTER COLUMN body SET STATISTICS 0;
ALTER TABLE memory_tie ALTER COLUMN body SET STATISTICS 0;
ALTER TABLE memory_fact ALTER COLUMN body SET STATISTICS 0, ALTER COLUMN terms SET STATISTICS 0,
    ALTER COLUMN tokens SET STATISTICS 0;
ALTER TABLE memory_word ALTER COLUMN word SET STATISTICS 0;
