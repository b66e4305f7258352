-- By what a record is found: what kind it is (1 the bot's or a model's words, 2 a change of a message, 3 a command), whose it is
-- and what they were called, and the message it is about. Gone once the record is forgotten.
ALTER TABLE journal ADD COLUMN kind INTEGER;
ALTER TABLE journal ADD COLUMN person TEXT;
ALTER TABLE journal ADD COLUMN name TEXT;
ALTER TABLE journal ADD COLUMN message TEXT;
UPDATE journal SET
    kind = CASE WHEN json_extract(body, '$.Said.author.voice') = 'Me' THEN 1 END,
    person = CASE WHEN json_extract(body, '$.Said.author.voice') <> 'Me' THEN json_extract(body, '$.Said.author.id') END,
    name = CASE WHEN json_extract(body, '$.Said.author.voice') <> 'Me' THEN json_extract(body, '$.Said.author.name') END,
    message = json_extract(body, '$.Said.id')
WHERE substr(body, 1, 8) = '{"Said":' AND json_valid(body);
UPDATE journal SET kind = 2, message = json_extract(body, '$.Changed.id')
WHERE substr(body, 1, 11) = '{"Changed":' AND json_valid(body);
UPDATE journal SET person = json_extract(body, '$.Reacted.by'), message = json_extract(body, '$.Reacted.message')
WHERE substr(body, 1, 11) = '{"Reacted":' AND json_valid(body);
UPDATE journal SET kind = 1 WHERE substr(body, 1, 10) = '{"Judged":' OR substr(body, 1, 11) = '{"Written":';
UPDATE journal SET kind = 3 WHERE substr(body, 1, 8) = '{"Told":';
CREATE INDEX journal_kind ON journal (kind) WHERE kind IS NOT NULL;
CREATE INDEX journal_person ON journal (person, name) WHERE person IS NOT NULL;
-- By the message first: ids of messages grow, so that what is added lies together.
CREATE INDEX journal_message ON journal (message, room) WHERE message IS NOT NULL;

-- Who else a record has a link to: a mention, a reply.
CREATE TABLE journal_mention (
    person TEXT NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (person, seq)
) WITHOUT ROWID;
INSERT OR IGNORE INTO journal_mention
    SELECT mention.value, seq FROM journal, json_each(body, '$.Said.mentions') AS mention
    WHERE substr(body, 1, 8) = '{"Said":' AND json_valid(body);
INSERT OR IGNORE INTO journal_mention
    SELECT json_extract(body, '$.Said.reply.to_person'), seq FROM journal
    WHERE substr(body, 1, 8) = '{"Said":' AND json_valid(body) AND json_extract(body, '$.Said.reply.to_person') IS NOT NULL;
CREATE INDEX journal_mention_seq ON journal_mention (seq);

-- How often records were rewritten: what was read before and is written after may hold somebody again who was forgotten.
CREATE TABLE journal_rewritten (count INTEGER NOT NULL);
INSERT INTO journal_rewritten VALUES (0);

-- Who said what a decision is about, and whether the decision holds words of a model, or cannot be read.
ALTER TABLE trace ADD COLUMN author TEXT;
ALTER TABLE trace ADD COLUMN worded INTEGER;
UPDATE trace SET author = json_extract(body, '$.author_id') WHERE json_valid(body);
UPDATE trace SET worded = 1 WHERE CASE
    WHEN NOT json_valid(body) THEN 1
    ELSE json_array_length(body, '$.asked') > 0 OR json_type(body, '$.cause.SaidNo') IS NOT NULL
        OR json_type(body, '$.cause.SaidYes') IS NOT NULL END;
CREATE INDEX trace_author ON trace (author) WHERE author IS NOT NULL;
CREATE INDEX trace_worded ON trace (worded) WHERE worded IS NOT NULL;
