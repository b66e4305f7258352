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
-- What tables of before lack. Each such statement waits until nobody reads the table, even if it has nothing to do, and everybody waits
-- behind it: a dump, which reads for long, would stop the cluster.
DO $$ BEGIN
    -- The settings by which its last records were decided.
    IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'cluster_room'::regclass AND attname = 'policies') THEN
        ALTER TABLE cluster_room ADD COLUMN policies BIGINT;
    END IF;
    -- What was recorded last, as a number: an attempt that comes again is recognised by it.
    IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'cluster_room'::regclass AND attname = 'attempt') THEN
        ALTER TABLE cluster_room ADD COLUMN attempt BIGINT;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'cluster_outbox'::regclass AND attname = 'room') THEN
        ALTER TABLE cluster_outbox ADD COLUMN room TEXT COLLATE "C";
    END IF;
    -- The gateway that stored it and is to tell it, as a number; it holds a lock of this number as long as it lives.
    IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'cluster_outbox'::regclass AND attname = 'gateway') THEN
        ALTER TABLE cluster_outbox ADD COLUMN gateway INTEGER;
    END IF;
    IF to_regclass('cluster_outbox_room') IS NULL THEN
        CREATE INDEX cluster_outbox_room ON cluster_outbox (room, id);
    END IF;
END $$;
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
-- The presets that were chosen for single rooms.
CREATE TABLE IF NOT EXISTS cluster_preset (
    room TEXT COLLATE "C" PRIMARY KEY,
    preset TEXT COLLATE "C" NOT NULL
);
-- What could not be handled.
CREATE TABLE IF NOT EXISTS cluster_set_aside (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    room TEXT COLLATE "C" NOT NULL,
    at BIGINT NOT NULL,
    input TEXT COLLATE "C" NOT NULL,
    error TEXT COLLATE "C" NOT NULL
);
DO $$ BEGIN
    -- By the clock of the server; unknown of what earlier versions set aside.
    IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'cluster_set_aside'::regclass AND attname = 'stored') THEN
        ALTER TABLE cluster_set_aside ADD COLUMN stored TIMESTAMPTZ;
        ALTER TABLE cluster_set_aside ALTER COLUMN stored SET DEFAULT now();
    END IF;
END $$;
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
-- The last record when a single process got the rooms back.
CREATE TABLE IF NOT EXISTS cluster_left (
    one BOOLEAN PRIMARY KEY CHECK (one),
    seq BIGINT NOT NULL
);
-- Into how many connections to a platform the gateways that run now divide it.
CREATE TABLE IF NOT EXISTS cluster_shards (
    platform TEXT COLLATE "C" PRIMARY KEY,
    count INTEGER NOT NULL
);
-- The server samples values of columns for its plans. What people said is not to be among it: it could not be forgotten there. A change
-- of the type, even to the same one, drops what was sampled before.
DO $$ DECLARE sampled RECORD; BEGIN
    FOR sampled IN
        SELECT words.* FROM (VALUES
            ('cluster_outbox', 'body', 'TEXT COLLATE "C"'),
            ('cluster_set_aside', 'input', 'TEXT COLLATE "C"'),
            ('cluster_set_aside', 'error', 'TEXT COLLATE "C"'),
            ('cluster_siblings', 'body', 'TEXT COLLATE "C"'),
            ('cluster_offered', 'state', 'BYTEA')
        ) AS words (whole, name, type)
        JOIN pg_attribute ON attrelid = words.whole::regclass AND attname = words.name
        WHERE coalesce(attstattarget, -1) <> 0
    LOOP
        EXECUTE format('ALTER TABLE %I ALTER COLUMN %I TYPE %s', sampled.whole, sampled.name, sampled.type);
        EXECUTE format('ALTER TABLE %I ALTER COLUMN %I SET STATISTICS 0', sampled.whole, sampled.name);
    END LOOP;
END $$;
-- The last group that each process committed, and when it began. A process that lives holds a lock of this number, and needs its row to
-- know after a lost connection what it committed.
CREATE TABLE IF NOT EXISTS cluster_writer (
    process BIGINT PRIMARY KEY,
    batch BIGINT NOT NULL,
    began TIMESTAMPTZ NOT NULL DEFAULT now()
);
DELETE FROM cluster_writer WHERE began < now() - interval '30 days' AND process NOT IN (
    SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 1
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
);
