-- What arrived at a platform. `key` is the same however often it arrives; `body` is gone once it was handled.
CREATE TABLE inbox (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    platform TEXT NOT NULL,
    key TEXT NOT NULL,
    at INTEGER NOT NULL,
    thread TEXT,
    body TEXT,
    UNIQUE (platform, key)
);
CREATE INDEX inbox_pending ON inbox (platform, seq) WHERE body IS NOT NULL;
CREATE INDEX inbox_at ON inbox (platform, at);
INSERT INTO inbox (seq, platform, key, at, thread, body)
    SELECT seq, 'slack', key, at, thread, body FROM slack_event ORDER BY seq;
INSERT INTO inbox (platform, key, at, body)
    SELECT 'web', 'w' || seq, 0, body FROM web_unheard ORDER BY seq;
DROP TABLE slack_event;
DROP TABLE web_unheard;

-- What was sent to a platform: recorded before it goes out, with the platform's id once it is out. The key of a post on Discord is
-- its nonce.
CREATE TABLE post (
    platform TEXT NOT NULL,
    key TEXT NOT NULL,
    begun INTEGER NOT NULL,
    id TEXT,
    PRIMARY KEY (platform, key)
) WITHOUT ROWID;
CREATE INDEX post_begun ON post (platform, begun);
INSERT INTO post SELECT 'discord', nonce, begun, CAST(message AS TEXT) FROM discord_post;
INSERT INTO post SELECT 'slack', key, begun, ts FROM slack_post;
DROP TABLE discord_post;
DROP TABLE slack_post;

-- How far each channel was heard; compared as text, so that numbers have leading zeros. Of a guild of Discord, the newest id that
-- was known when its channels were last listed.
CREATE TABLE channel_mark (
    platform TEXT NOT NULL,
    channel TEXT NOT NULL,
    server TEXT NOT NULL,
    heard TEXT NOT NULL,
    PRIMARY KEY (platform, channel)
) WITHOUT ROWID;
CREATE INDEX channel_mark_server ON channel_mark (platform, server, heard);
INSERT INTO channel_mark
    SELECT 'discord', CAST(id AS TEXT), iif(guild = 0, '', CAST(guild AS TEXT)), printf('%020d', heard) FROM discord_channel;
INSERT INTO channel_mark SELECT 'discord', 'guild/' || id, 'guilds', printf('%020d', told) FROM discord_guild;
INSERT INTO channel_mark SELECT 'slack', id, '', last FROM slack_channel;
DROP TABLE discord_channel;
DROP TABLE discord_guild;
DROP TABLE slack_channel;
