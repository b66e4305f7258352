-- Who is being forgotten: written down before anything is deleted, so that it ends also after a crash. `body` says who. It is
-- empty once everything of them is deleted, NULL once the file was written anew as well; the row goes last, when the old
-- pages are out of the log too.
CREATE TABLE forgetting (
    id INTEGER PRIMARY KEY,
    body TEXT
);

-- Keys hold the id of the person who said it; those of people who were forgotten go.
UPDATE web_message SET key = NULL WHERE json_extract(body, '$.by.id') = '';
