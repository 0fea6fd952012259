-- API keys. Only the SHA-256 of a key is stored; the key itself is shown once, when it is made.
CREATE TABLE api_keys (
  -- SHA-256 of the whole key, lower-case hexadecimal: the one lookup of every request.
  hash        TEXT PRIMARY KEY NOT NULL CHECK (length(hash) = 64),
  -- UUID; names the key to people, reveals nothing of it.
  id          TEXT NOT NULL UNIQUE,
  account     TEXT NOT NULL,
  environment TEXT NOT NULL CHECK (environment IN ('test', 'live')),
  -- Space-separated: catalog:read connections:read connections:write
  scopes      TEXT NOT NULL,
  -- Milliseconds since 1970-01-01 UTC.
  created_at  INTEGER NOT NULL,
  expires_at  INTEGER,
  revoked_at  INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX api_keys_by_account ON api_keys (account, created_at);
