-- The rooms of a cluster: the number of each (as that of an engine), and how much of it is recorded.
CREATE SEQUENCE IF NOT EXISTS cluster_room_number;
CREATE TABLE IF NOT EXISTS cluster_room (
    room TEXT COLLATE "C" PRIMARY KEY,
    shard INTEGER NOT NULL,
    records BIGINT NOT NULL,
    seq BIGINT NOT NULL
);
-- The settings by which its last records were decided.
ALTER TABLE cluster_room ADD COLUMN IF NOT EXISTS policies BIGINT;
-- What rooms are to hear and have not been told yet.
CREATE TABLE IF NOT EXISTS cluster_outbox (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at BIGINT NOT NULL,
    stored TIMESTAMPTZ NOT NULL DEFAULT now(),
    body TEXT COLLATE "C" NOT NULL
);
ALTER TABLE cluster_outbox ADD COLUMN IF NOT EXISTS room TEXT COLLATE "C";
CREATE INDEX IF NOT EXISTS cluster_outbox_room ON cluster_outbox (room, id);
-- Settings by which rooms decide.
CREATE TABLE IF NOT EXISTS cluster_policies (
    id BIGINT PRIMARY KEY,
    body TEXT COLLATE "C" NOT NULL
);
-- Those that hold now.
CREATE TABLE IF NOT EXISTS cluster_settings (
    one BOOLEAN PRIMARY KEY CHECK (one),
    policies BIGINT NOT NULL
);
-- What could not be handled.
CREATE TABLE IF NOT EXISTS cluster_set_aside (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    room TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    input TEXT COLLATE "C" NOT NULL,
    error TEXT COLLATE "C" NOT NULL
);
-- What each room spent by day, what all of them spent together, and the calls in flight that the budget over all rooms has to count.
CREATE TABLE IF NOT EXISTS cluster_spent (
    room TEXT COLLATE "C" NOT NULL,
    day BIGINT NOT NULL,
    calls BIGINT NOT NULL,
    tokens BIGINT NOT NULL,
    micros BIGINT NOT NULL,
    PRIMARY KEY (room, day)
);
CREATE TABLE IF NOT EXISTS cluster_spent_total (
    day BIGINT PRIMARY KEY,
    calls BIGINT NOT NULL,
    tokens BIGINT NOT NULL,
    micros BIGINT NOT NULL
);
CREATE TABLE IF NOT EXISTS cluster_in_flight (
    room TEXT COLLATE "C" NOT NULL,
    serial BIGINT NOT NULL,
    calls BIGINT NOT NULL,
    tokens BIGINT NOT NULL,
    micros BIGINT NOT NULL,
    PRIMARY KEY (room, serial)
);
-- What rooms of one kind are like, over all workers.
CREATE TABLE IF NOT EXISTS cluster_siblings (
    one BOOLEAN PRIMARY KEY CHECK (one),
    body TEXT COLLATE "C" NOT NULL
);
-- States of rooms of a single process that Restate has not taken yet.
CREATE TABLE IF NOT EXISTS cluster_offered (
    room TEXT COLLATE "C" PRIMARY KEY,
    state BYTEA NOT NULL
);
-- Into how many connections to a platform the gateways that run now divide it.
CREATE TABLE IF NOT EXISTS cluster_shards (
    platform TEXT COLLATE "C" PRIMARY KEY,
    count INTEGER NOT NULL
);
-- The last group that each process committed.
CREATE TABLE IF NOT EXISTS cluster_writer (
    process BIGINT PRIMARY KEY,
    batch BIGINT NOT NULL,
    began TIMESTAMPTZ NOT NULL DEFAULT now()
);
DELETE FROM cluster_writer WHERE began < now() - interval '30 days';
