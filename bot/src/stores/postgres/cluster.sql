-- The rooms of a cluster: the number of each (as that of an engine), and how much of it is recorded.
CREATE SEQUENCE IF NOT EXISTS cluster_room_number;
CREATE TABLE IF NOT EXISTS cluster_room (
    room TEXT COLLATE "C" PRIMARY KEY,
    shard INTEGER NOT NULL,
    records BIGINT NOT NULL,
    seq BIGINT NOT NULL
);
-- What rooms are to hear and have not been told yet.
CREATE TABLE IF NOT EXISTS cluster_outbox (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at BIGINT NOT NULL,
    stored TIMESTAMPTZ NOT NULL DEFAULT now(),
    body TEXT COLLATE "C" NOT NULL
);
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
-- The last group that each process committed.
CREATE TABLE IF NOT EXISTS cluster_writer (
    process BIGINT PRIMARY KEY,
    batch BIGINT NOT NULL,
    began TIMESTAMPTZ NOT NULL DEFAULT now()
);
DELETE FROM cluster_writer WHERE began < now() - interval '30 days';
