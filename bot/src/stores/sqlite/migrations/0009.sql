-- When somebody last spoke: whoever never did is let go of first, and is no member of a room.
ALTER TABLE web_person ADD COLUMN spoke INTEGER NOT NULL DEFAULT 0;
ALTER TABLE web_member ADD COLUMN spoke INTEGER NOT NULL DEFAULT 0;
UPDATE web_member SET spoke = said.at FROM (
    SELECT room, json_extract(body, '$.by.id') AS person, max(json_extract(body, '$.at')) AS at
    FROM web_message GROUP BY 1, 2
) AS said WHERE said.room = web_member.room AND said.person = web_member.person;
UPDATE web_person SET spoke = member.at FROM (
    SELECT person, max(spoke) AS at FROM web_member GROUP BY 1
) AS member WHERE member.person = web_person.id;
DELETE FROM web_member WHERE spoke = 0;
-- Who opened a room, and so may close it.
ALTER TABLE web_room ADD COLUMN opened_by TEXT;
-- Browsers that showed the token: a keyed hash of what each was given.
CREATE TABLE web_session (
    hash BLOB PRIMARY KEY,
    begun INTEGER NOT NULL
) WITHOUT ROWID;
