-- The newest id that was known of a Discord guild when its channels were last told: what was made later has a greater one.
CREATE TABLE discord_guild (
    id INTEGER PRIMARY KEY,
    told INTEGER NOT NULL
);
