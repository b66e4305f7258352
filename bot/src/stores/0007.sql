-- A checksum of `body`, so that a damaged engine is noticed; none where an older version wrote it.
ALTER TABLE snapshot ADD COLUMN sum INTEGER;
ALTER TABLE base ADD COLUMN sum INTEGER;
