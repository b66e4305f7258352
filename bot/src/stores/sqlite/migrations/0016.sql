-- Who answers whom in a room, how often and about which words.
CREATE TABLE memory_tie (
    room TEXT NOT NULL,
    answering TEXT NOT NULL,
    answered TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (room, answering, answered)
) WITHOUT ROWID;
CREATE INDEX memory_tie_answering ON memory_tie (answering);
CREATE INDEX memory_tie_answered ON memory_tie (answered);
