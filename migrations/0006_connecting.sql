-- Connecting: the account's OAuth clients at platforms, attempts to connect, and the sealed credentials of connections.
--
-- `sealed` is what `src/credentials/seal.rs` writes: the id of the key that seals it, a dot, and the rest. `sealed_key` is
-- that id, so that whoever rotates keys finds what still needs the old one.
--
-- A Worker from before this migration neither reads nor writes these tables. It may delete connections; the trigger below
-- then erases their credentials too.
CREATE TABLE oauth_clients (
  account                  TEXT    NOT NULL,
  environment              TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  platform                 TEXT    NOT NULL,
  -- The id of the connector's method that the client belongs to; NULL for whichever method of OAuth 2.0 there is.
  auth_method              TEXT,
  client_id                TEXT    NOT NULL,
  -- The sealed secret; NULL for a client without one.
  sealed                   TEXT,
  sealed_key               TEXT    GENERATED ALWAYS AS (substr(sealed, 1, instr(sealed, '.') - 1)) VIRTUAL,
  -- A JSON array of texts: what is asked for when a request names no scopes.
  scopes                   TEXT    NOT NULL CHECK (json_type(scopes) = 'array'),
  -- JSON objects of texts.
  authorization_parameters TEXT    NOT NULL CHECK (json_type(authorization_parameters) = 'object'),
  variables                TEXT    NOT NULL CHECK (json_type(variables) = 'object'),
  -- Milliseconds since 1970-01-01 UTC.
  created_at               INTEGER NOT NULL,
  updated_at               INTEGER NOT NULL,
  PRIMARY KEY (account, environment, platform)
) STRICT, WITHOUT ROWID;

CREATE INDEX oauth_clients_by_sealed_key ON oauth_clients (sealed_key) WHERE sealed IS NOT NULL;

CREATE TABLE credentials (
  account         TEXT    NOT NULL,
  environment     TEXT    NOT NULL,
  connection_id   TEXT    NOT NULL,
  -- The id of the connector's method.
  auth_method     TEXT    NOT NULL,
  type            TEXT    NOT NULL CHECK (type IN ('oauth2', 'api_key', 'basic', 'bearer', 'aws_sigv4')),
  sealed          TEXT    NOT NULL,
  sealed_key      TEXT    GENERATED ALWAYS AS (substr(sealed, 1, instr(sealed, '.') - 1)) VIRTUAL,
  -- 1 when stored, one more with every write: a write names the version that it read.
  version         INTEGER NOT NULL,
  -- When the access token was issued and when it expires; NULL when that is not known.
  issued_at       INTEGER,
  expires_at      INTEGER,
  -- Whether the credentials can be renewed, and whether the platform revokes them when it is asked.
  renewable       INTEGER NOT NULL CHECK (renewable IN (0, 1)),
  revocable       INTEGER NOT NULL CHECK (revocable IN (0, 1)),
  -- JSON arrays of texts: what the platform granted, and what it did not grant of what was asked for.
  scopes          TEXT    NOT NULL CHECK (json_type(scopes) = 'array'),
  missing_scopes  TEXT    NOT NULL CHECK (json_type(missing_scopes) = 'array'),
  refreshed_at    INTEGER,
  -- Why the last renewal failed; NULL when it did not.
  reason_code     TEXT,
  reason_detail   TEXT,
  reason_status   INTEGER,
  -- Failed renewals since the last good one, when the first of them was, and when the next one is due.
  attempts        INTEGER NOT NULL DEFAULT 0,
  failing_since   INTEGER,
  -- When the platform first said that the grant has ended; NULL when it has not since the last good renewal.
  refused_since   INTEGER,
  next_attempt_at INTEGER,
  -- Who renews now, and until when nobody else does.
  lease           TEXT,
  lease_until     INTEGER,
  -- The request that wrote this version: tells a repeated write that it has happened already.
  written_by      TEXT    NOT NULL,
  PRIMARY KEY (account, environment, connection_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX credentials_by_sealed_key ON credentials (sealed_key);

-- What is needed to revoke what a deleted connection held, until the platform has answered.
CREATE TABLE revocations (
  account       TEXT    NOT NULL,
  environment   TEXT    NOT NULL,
  connection_id TEXT    NOT NULL,
  platform      TEXT    NOT NULL,
  auth_method   TEXT    NOT NULL,
  sealed        TEXT    NOT NULL,
  sealed_key    TEXT    GENERATED ALWAYS AS (substr(sealed, 1, instr(sealed, '.') - 1)) VIRTUAL,
  created_at    INTEGER NOT NULL,
  PRIMARY KEY (account, environment, connection_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX revocations_by_sealed_key ON revocations (sealed_key);
CREATE INDEX revocations_by_age ON revocations (created_at);

-- A deleted connection leaves no credentials behind, whatever deletes it.
CREATE TRIGGER connections_deleted_credentials AFTER DELETE ON connections BEGIN
  INSERT INTO revocations (account, environment, connection_id, platform, auth_method, sealed, created_at)
    SELECT account, environment, connection_id, OLD.platform, auth_method, sealed, CAST(unixepoch('subsec') * 1000 AS INTEGER)
    FROM credentials
    WHERE account = OLD.account AND environment = OLD.environment AND connection_id = OLD.id AND revocable = 1
    ON CONFLICT DO NOTHING;
  DELETE FROM credentials
    WHERE account = OLD.account AND environment = OLD.environment AND connection_id = OLD.id;
END;

CREATE TABLE connect_attempts (
  id                  TEXT    PRIMARY KEY NOT NULL CHECK (length(id) = 36),
  account             TEXT    NOT NULL,
  environment         TEXT    NOT NULL,
  -- The key that began it, itself or by a token.
  key_id              TEXT    NOT NULL,
  -- pending: the user has not come back. exchanging: the code is being exchanged.
  status              TEXT    NOT NULL CHECK (status IN ('pending', 'exchanging', 'succeeded', 'failed')),
  -- The connection that it creates or reconnects.
  connection_id       TEXT    NOT NULL,
  reconnects          INTEGER NOT NULL CHECK (reconnects IN (0, 1)),
  allow_other_account INTEGER NOT NULL CHECK (allow_other_account IN (0, 1)),
  platform            TEXT    NOT NULL,
  platform_version    TEXT    NOT NULL,
  description         TEXT    NOT NULL,
  auth_method         TEXT    NOT NULL,
  identity            TEXT    NOT NULL,
  identity_type       TEXT    NOT NULL,
  label               TEXT    NOT NULL,
  name                TEXT,
  -- A JSON array of texts; NULL leaves those of a reconnected connection.
  tags                TEXT,
  -- A JSON array of texts: the scopes that were asked for.
  scopes              TEXT    NOT NULL,
  return_url          TEXT,
  -- SHA-256 in hexadecimal: of the link's secret, of `state`, and of the cookie of the browser that it is bound to.
  link_hash           TEXT    NOT NULL UNIQUE,
  state_hash          TEXT    NOT NULL UNIQUE,
  browser_hash        TEXT,
  -- The PKCE verifier, `state` and the fields that were filled in; NULL once the attempt is over.
  sealed              TEXT,
  sealed_key          TEXT    GENERATED ALWAYS AS (substr(sealed, 1, instr(sealed, '.') - 1)) VIRTUAL,
  -- The request that exchanges the code, and since when.
  claimed_by          TEXT,
  claimed_at          INTEGER,
  error_code          TEXT,
  error_detail        TEXT,
  created_at          INTEGER NOT NULL,
  expires_at          INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX connect_attempts_by_identity ON connect_attempts (account, environment, identity, expires_at) WHERE status = 'pending';
CREATE INDEX connect_attempts_by_account ON connect_attempts (account, expires_at) WHERE status = 'pending';
CREATE INDEX connect_attempts_by_age ON connect_attempts (expires_at);

-- Since when a connection is in its state; NULL for as long as it exists.
ALTER TABLE connections ADD COLUMN state_since INTEGER;
