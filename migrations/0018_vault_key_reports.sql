-- Which keys that seal credentials the running services have: a row for each list of keys that one of them has. Each run of
-- the schedule reports its own, so that nothing is sealed again with a key that a running service lacks.
CREATE TABLE vault_key_reports (
  -- A JSON array of `<id>:<fingerprint>`, the key that seals first. A fingerprint does not reveal its key.
  keys     TEXT    PRIMARY KEY NOT NULL CHECK (json_valid(keys)),
  -- The first and the last time that a service reported it, in milliseconds since 1970-01-01 UTC.
  first_at INTEGER NOT NULL,
  last_at  INTEGER NOT NULL CHECK (last_at >= first_at)
) STRICT, WITHOUT ROWID;
