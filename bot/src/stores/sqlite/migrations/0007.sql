-- A checksum of `body`, so that a damaged engine is noticed, and how many engines the rooms were dealt out to; neither where an
-- older version wrote it.
ALTER TABLE snapshot ADD COLUMN sum INTEGER;
ALTER TABLE snapshot ADD COLUMN shards INTEGER;
ALTER TABLE base ADD COLUMN sum INTEGER;
ALTER TABLE base ADD COLUMN shards INTEGER;
