-- Connect codes that have already been exchanged for a token. Issuing a code writes nothing, because codes are signed; this
-- row prevents a second exchange.
CREATE TABLE used_codes (
  -- SHA-256 of the code, lower-case hexadecimal.
  hash       TEXT    PRIMARY KEY NOT NULL CHECK (length(hash) = 64),
  -- The request that exchanged the code, so that retrying its own write is not mistaken for a second exchange.
  used_by    TEXT    NOT NULL,
  -- Milliseconds since 1970-01-01 UTC. An expired code is rejected anyway, so its row can be deleted.
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX used_codes_by_expiry ON used_codes (expires_at);
