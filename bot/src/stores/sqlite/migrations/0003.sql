-- Discord's channels and threads: up to which message each was heard, so that a gap can be filled.
CREATE TABLE discord_channel (
    id INTEGER PRIMARY KEY,
    -- 0 for direct messages.
    guild INTEGER NOT NULL,
    heard INTEGER NOT NULL
);

-- What was to be posted on Discord, and the post it became: none while that is not known.
CREATE TABLE discord_post (
    key TEXT PRIMARY KEY,
    nonce TEXT NOT NULL UNIQUE,
    channel INTEGER NOT NULL,
    begun INTEGER NOT NULL,
    message INTEGER
) WITHOUT ROWID;
CREATE INDEX discord_post_begun ON discord_post (begun);
