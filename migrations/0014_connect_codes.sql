-- Codes of connect links that have been exchanged. A code is signed, so that making one writes nothing; the row keeps it from
-- being exchanged again.
CREATE TABLE used_codes (
  -- SHA-256 of the code, lower-case hexadecimal.
  hash       TEXT    PRIMARY KEY NOT NULL CHECK (length(hash) = 64),
  -- The request that exchanged it: tells a repeated write that it has happened already.
  used_by    TEXT    NOT NULL,
  -- Milliseconds since 1970-01-01 UTC: when the code expires, and the row with it.
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX used_codes_by_expiry ON used_codes (expires_at);
