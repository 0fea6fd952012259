-- The whole schema of a vault database (D1, which is SQLite). Each shard is one such database.
--
-- Conventions
--   account, environment  The tenant that a row belongs to. Most keys begin with them, so looking up another tenant's
--                         row costs as much as looking up one that does not exist.
--   id                    A lower-case hyphenated UUID, unless the column says otherwise.
--   *_at, *_since         Milliseconds since 1970-01-01 UTC.
--   *_hash                SHA-256 in lower-case hexadecimal. The value itself is not stored.
--   sealed, sealed_key    Ciphertext in the format of src/credentials/seal.rs: the id of the encryption key, a dot, and
--                         the rest. `sealed_key` is that id; a key rotation uses it to find rows.
--   written_by            The id of the request that last wrote the row. A request is retried if its response is lost;
--                         this column shows that its write has already succeeded.
--
-- Triggers maintain all derived data: counters, tag rows, events, deliveries, audit entries. They run in the
-- transaction of the change, so no code path and no crash can skip them. SQLite does not fire delete triggers for rows
-- that conflict resolution replaces. So never use OR REPLACE, nor OR IGNORE or OR FAIL in an UPDATE.
--
-- Sections: API keys, connections, OAuth clients, credentials, connect attempts, events, webhooks, agents, console,
-- branding, audit, moves, encryption keys.

------------------------------------------------------------------------------------------------------------------------
-- API keys
------------------------------------------------------------------------------------------------------------------------

-- An API key. Only its hash is stored; the key itself is returned once, when it is created.
CREATE TABLE api_keys (
  -- SHA-256 of the whole key. Every request looks up its key by this hash.
  hash          TEXT PRIMARY KEY NOT NULL CHECK (length(hash) = 64),
  -- A random UUID that identifies the key in lists and logs.
  id            TEXT NOT NULL UNIQUE,
  account       TEXT NOT NULL,
  environment   TEXT NOT NULL CHECK (environment IN ('test', 'live')),
  -- Separated by spaces.
  scopes        TEXT NOT NULL,
  created_at    INTEGER NOT NULL,
  -- NULL: never.
  expires_at    INTEGER,
  revoked_at    INTEGER,
  -- The day of the last use, in days since 1970-01-01 UTC. Not a time, so that a key in use costs one write a day.
  last_used_day INTEGER,
  -- The id of the key that replaced this one in a rotation.
  replaced_by   TEXT,
  -- The owner's description of the key.
  name          TEXT,
  -- The id of the key that created this one. NULL: created by the operator.
  created_by    TEXT
) STRICT, WITHOUT ROWID;

-- Serves the operator's list of an account's keys.
CREATE INDEX api_keys_by_account ON api_keys (account, created_at);

-- Finds the keys that another key created.
CREATE INDEX api_keys_by_creator ON api_keys (created_by) WHERE created_by IS NOT NULL;

-- Revoking a key also revokes every key that it created, directly or indirectly, because a leaked key may have created
-- others. A trigger enforces this for the operator's commands, too. The last condition excludes a rotation that
-- replaces and revokes a key in one statement: its replacement takes over the created keys.
CREATE TRIGGER api_keys_revoked AFTER UPDATE OF revoked_at ON api_keys
WHEN NEW.revoked_at IS NOT NULL AND OLD.revoked_at IS NULL AND NEW.replaced_by IS OLD.replaced_by BEGIN
  UPDATE api_keys SET revoked_at = NEW.revoked_at WHERE revoked_at IS NULL AND id IN (
    WITH RECURSIVE created (id) AS (
      SELECT id FROM api_keys WHERE created_by = NEW.id
      UNION
      SELECT k.id FROM created c CROSS JOIN api_keys k ON k.created_by = c.id
    )
    SELECT id FROM created
  );
END;

-- The replacement of a key takes over the keys that it created.
CREATE TRIGGER api_keys_replaced AFTER UPDATE OF replaced_by ON api_keys
WHEN NEW.replaced_by IS NOT NULL AND OLD.replaced_by IS NULL BEGIN
  UPDATE api_keys SET created_by = NEW.replaced_by WHERE created_by = NEW.id AND id <> NEW.replaced_by;
END;

------------------------------------------------------------------------------------------------------------------------
-- Connections
--
-- Lists return pages in the order of (created_at, id) for any combination of filters, and a page must cost only the
-- rows that it contains. So each filter has an index that begins with the filter's columns and ends with that order; a
-- page is one range scan. `active` precedes the filter's columns because every list selects one of its two values.
-- Totals come from counters.
--
-- Identity type and state have only four values each. So an index on both also serves a filter on one of them: the list
-- merges four range scans, and the total adds four counters. This covers ten combinations with four indexes and four
-- counters.
--
-- Only prefix searches (`q`) sort their matches, and they have no counters, because a counter for each prefix would
-- cost too many writes.
------------------------------------------------------------------------------------------------------------------------

-- A connection: an identity's account at a platform.
CREATE TABLE connections (
  seq              INTEGER PRIMARY KEY,
  id               TEXT    NOT NULL CHECK (length(id) = 36),
  account          TEXT    NOT NULL,
  environment      TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  active           INTEGER NOT NULL CHECK (active IN (0, 1)),
  platform         TEXT    NOT NULL,
  platform_version TEXT    NOT NULL,
  label            TEXT    NOT NULL,
  identity         TEXT    NOT NULL,
  -- `identity` with its case folded (src/util/case_fold.rs): prefix search ignores case, the filter does not.
  identity_folded  TEXT    NOT NULL,
  identity_type    TEXT    NOT NULL CHECK (identity_type IN ('user', 'team', 'organization', 'project')),
  name             TEXT,
  name_folded      TEXT    CHECK ((name IS NULL) = (name_folded IS NULL)),
  -- The length of the common prefix of name and identity, at most 7. A prefix search first matches identities. Its
  -- search over names skips the rows that the identities already matched: those whose common prefix is as long as the
  -- search text.
  name_overlap     INTEGER GENERATED ALWAYS AS (
    (substr(name_folded, 1, 1) = substr(identity_folded, 1, 1)) +
    (substr(name_folded, 1, 2) = substr(identity_folded, 1, 2)) +
    (substr(name_folded, 1, 3) = substr(identity_folded, 1, 3)) +
    (substr(name_folded, 1, 4) = substr(identity_folded, 1, 4)) +
    (substr(name_folded, 1, 5) = substr(identity_folded, 1, 5)) +
    (substr(name_folded, 1, 6) = substr(identity_folded, 1, 6)) +
    (substr(name_folded, 1, 7) = substr(identity_folded, 1, 7))) VIRTUAL,
  description      TEXT    NOT NULL,
  state            TEXT    NOT NULL CHECK (state IN ('operational', 'degraded', 'failed', 'unknown')),
  -- A JSON array of strings, exactly as sent.
  tags             TEXT    NOT NULL CHECK (json_type(tags) = 'array'),
  -- Starts at 1; every change adds 1.
  version          INTEGER NOT NULL CHECK (version >= 1),
  created_at       INTEGER NOT NULL,
  written_by       TEXT    NOT NULL,
  -- The caller's reason for the state. Setting a state without a reason clears it.
  state_reason     TEXT,
  -- When the connection entered its state. NULL: when it was created.
  state_since      INTEGER,
  -- The id of the request that last connected the account; NULL if none did. A change of this column distinguishes the
  -- event "connected" from other changes of state.
  connected_by          TEXT,
  -- The connected account at the platform; NULL if unknown.
  platform_account_id   TEXT,
  platform_account_name TEXT
) STRICT;

CREATE UNIQUE INDEX connections_by_id ON connections (account, environment, id);
-- Lookup by connection key: a tenant has at most one connection for each.
CREATE UNIQUE INDEX connections_by_key ON connections (account, environment, platform, label, identity);

-- Each filter, or combination of filters, has an index in list order.
CREATE INDEX connections_by_age ON connections (account, environment, active, created_at, id);
CREATE INDEX connections_by_platform ON connections (account, environment, active, platform, created_at, id);
CREATE INDEX connections_by_platform_version ON connections
  (account, environment, active, platform_version, created_at, id);
CREATE INDEX connections_by_platform_and_version ON connections
  (account, environment, active, platform, platform_version, created_at, id);
CREATE INDEX connections_by_identity_type ON connections (account, environment, active, identity_type, created_at, id);
CREATE INDEX connections_by_platform_and_identity_type ON connections
  (account, environment, active, platform, identity_type, created_at, id);
-- Serves the filter by identity, and prefix search.
CREATE INDEX connections_by_identity ON connections
  (account, environment, active, identity_folded, identity, created_at, id);
-- Serves the prefix search over names, except for rows that the search over identities already finds.
CREATE INDEX connections_by_name ON connections
  (account, environment, active, name_overlap, name_folded, created_at, id)
  WHERE name_folded IS NOT NULL;
-- Serves filters that combine identity type and state: see the introduction of this section.
CREATE INDEX connections_by_type_and_state ON connections
  (account, environment, active, identity_type, state, created_at, id);
CREATE INDEX connections_by_platform_type_and_state ON connections
  (account, environment, active, platform, identity_type, state, created_at, id);
CREATE INDEX connections_by_version_type_and_state ON connections
  (account, environment, active, platform_version, identity_type, state, created_at, id);
CREATE INDEX connections_by_platform_version_type_and_state ON connections
  (account, environment, active, platform, platform_version, identity_type, state, created_at, id);
-- Serves the filter by the connected account.
CREATE INDEX connections_by_platform_account ON connections
  (account, environment, active, platform_account_id, created_at, id)
  WHERE platform_account_id IS NOT NULL;

-- A tag of a connection: one row even if `tags` repeats the tag. The key is in list order, for the filter by tag.
CREATE TABLE connection_tags (
  account     TEXT    NOT NULL,
  environment TEXT    NOT NULL,
  active      INTEGER NOT NULL,
  tag         TEXT    NOT NULL,
  created_at  INTEGER NOT NULL,
  id          TEXT    NOT NULL,
  seq         INTEGER NOT NULL,
  PRIMARY KEY (account, environment, active, tag, created_at, id)
) STRICT, WITHOUT ROWID;

-- A counter: the number of connections with a given value in a dimension. Without counters, a total would read every
-- row that it counts. A counter of zero has no row.
CREATE TABLE connection_counts (
  account     TEXT    NOT NULL,
  environment TEXT    NOT NULL,
  -- 0 or 1; 2 counts both.
  active      INTEGER NOT NULL,
  -- `tag`, or a dimension of the view connection_counted: one or more fields, separated by slashes.
  dimension   TEXT    NOT NULL,
  -- The values of the fields in `dimension`, separated by slashes.
  value       TEXT    NOT NULL,
  n           INTEGER NOT NULL CHECK (n > 0),
  PRIMARY KEY (account, environment, active, dimension, value)
) STRICT, WITHOUT ROWID;

-- Serves the list of a tenant's largest platforms.
CREATE INDEX connection_counts_by_size ON connection_counts (account, environment, n DESC, value)
  WHERE active = 2 AND dimension = 'platform';

-- All counters that include a connection, except those of its tags. `by_state` is 1 if the counter depends on the
-- state.
CREATE VIEW connection_counted (seq, account, environment, active, dimension, value, by_state) AS
  SELECT c.seq, c.account, c.environment, iif(d.both, 2, c.active), d.dimension,
    CASE d.dimension
      WHEN 'all'                      THEN ''
      WHEN 'platform'                 THEN c.platform
      WHEN 'platformVersion'          THEN c.platform_version
      WHEN 'platform/platformVersion' THEN c.platform || '/' || c.platform_version
      WHEN 'identityType'             THEN c.identity_type
      WHEN 'platform/identityType'    THEN c.platform || '/' || c.identity_type
      WHEN 'state'                    THEN c.state
      WHEN 'identityType/state'       THEN c.identity_type || '/' || c.state
      WHEN 'platform/identityType/state'
        THEN c.platform || '/' || c.identity_type || '/' || c.state
      WHEN 'platformVersion/identityType/state'
        THEN c.platform_version || '/' || c.identity_type || '/' || c.state
      WHEN 'platform/platformVersion/identityType/state'
        THEN c.platform || '/' || c.platform_version || '/' || c.identity_type || '/' || c.state
    END,
    d.by_state
  FROM connections c CROSS JOIN (
    SELECT column1 AS both, column2 AS dimension, column3 AS by_state FROM (VALUES
      (0, 'all', 0), (0, 'platform', 0), (0, 'platformVersion', 0), (0, 'platform/platformVersion', 0),
      (0, 'identityType', 0), (0, 'platform/identityType', 0), (1, 'platform', 0), (1, 'state', 1),
      (0, 'identityType/state', 1), (0, 'platform/identityType/state', 1), (0, 'platformVersion/identityType/state', 1),
      (0, 'platform/platformVersion/identityType/state', 1))) d;

-- Deleting a row of the view subtracts 1 from its counter, and deletes the counter if it would be 0.
CREATE TRIGGER connection_counted_deleted INSTEAD OF DELETE ON connection_counted BEGIN
  DELETE FROM connection_counts WHERE n = 1 AND account = OLD.account AND environment = OLD.environment
    AND active = OLD.active AND dimension = OLD.dimension AND value = OLD.value;
  UPDATE connection_counts SET n = n - 1 WHERE account = OLD.account AND environment = OLD.environment
    AND active = OLD.active AND dimension = OLD.dimension AND value = OLD.value;
END;

-- Writes only the tag rows that differ. If a column of their key has changed, all of them differ.
CREATE TRIGGER connections_tags_updated
AFTER UPDATE OF seq, id, account, environment, active, tags, created_at ON connections BEGIN
  DELETE FROM connection_tags
    WHERE account = OLD.account AND environment = OLD.environment AND active = OLD.active
      AND created_at = OLD.created_at AND id = OLD.id
      AND tag IN (
        SELECT value FROM json_each(OLD.tags)
        EXCEPT
        SELECT value FROM json_each(NEW.tags)
          WHERE (NEW.seq, NEW.id, NEW.account, NEW.environment, NEW.active, NEW.created_at)
             IS (OLD.seq, OLD.id, OLD.account, OLD.environment, OLD.active, OLD.created_at));
  INSERT INTO connection_tags (account, environment, active, tag, created_at, id, seq)
    SELECT NEW.account, NEW.environment, NEW.active, value, NEW.created_at, NEW.id, NEW.seq FROM json_each(NEW.tags)
    EXCEPT
    SELECT OLD.account, OLD.environment, OLD.active, value, OLD.created_at, OLD.id, OLD.seq FROM json_each(OLD.tags);
END;

-- Counts a new connection, and writes its tags.
CREATE TRIGGER connections_inserted AFTER INSERT ON connections BEGIN
  INSERT INTO connection_counts (account, environment, active, dimension, value, n)
    SELECT account, environment, active, dimension, value, 1 FROM connection_counted WHERE seq = NEW.seq
    ON CONFLICT DO UPDATE SET n = n + 1;
  INSERT INTO connection_tags (account, environment, active, tag, created_at, id, seq)
    SELECT DISTINCT NEW.account, NEW.environment, NEW.active, value, NEW.created_at, NEW.id, NEW.seq
    FROM json_each(NEW.tags);
END;

-- Subtracts a connection from its counters, and deletes its tags. BEFORE, because the view still has to read the row.
CREATE TRIGGER connections_deleted BEFORE DELETE ON connections BEGIN
  DELETE FROM connection_counted WHERE seq = OLD.seq;
  DELETE FROM connection_tags
    WHERE account = OLD.account AND environment = OLD.environment AND active = OLD.active
      AND created_at = OLD.created_at AND id = OLD.id
      AND tag IN (SELECT value FROM json_each(OLD.tags));
END;

-- Before a change, the old row is subtracted from the counters; after it, the new row is added. A change of only the
-- state writes only the counters that depend on it.
CREATE TRIGGER connections_before_update
BEFORE UPDATE OF seq, account, environment, active, platform, platform_version, identity_type, state
ON connections BEGIN
  DELETE FROM connection_counted WHERE seq = OLD.seq AND (by_state
    OR (NEW.seq, NEW.account, NEW.environment, NEW.active, NEW.platform, NEW.platform_version, NEW.identity_type)
    IS NOT (OLD.seq, OLD.account, OLD.environment, OLD.active, OLD.platform, OLD.platform_version, OLD.identity_type));
END;

CREATE TRIGGER connections_after_update
AFTER UPDATE OF seq, account, environment, active, platform, platform_version, identity_type, state
ON connections BEGIN
  INSERT INTO connection_counts (account, environment, active, dimension, value, n)
    SELECT account, environment, active, dimension, value, 1 FROM connection_counted WHERE seq = NEW.seq AND (by_state
      OR (NEW.seq, NEW.account, NEW.environment, NEW.active, NEW.platform, NEW.platform_version, NEW.identity_type)
      IS NOT (OLD.seq, OLD.account, OLD.environment, OLD.active, OLD.platform, OLD.platform_version, OLD.identity_type))
    ON CONFLICT DO UPDATE SET n = n + 1;
END;

-- Inserting or deleting a tag row updates the tag's counter.
CREATE TRIGGER connection_tags_inserted AFTER INSERT ON connection_tags BEGIN
  INSERT INTO connection_counts (account, environment, active, dimension, value, n)
    VALUES (NEW.account, NEW.environment, NEW.active, 'tag', NEW.tag, 1)
    ON CONFLICT DO UPDATE SET n = n + 1;
END;

CREATE TRIGGER connection_tags_deleted AFTER DELETE ON connection_tags BEGIN
  DELETE FROM connection_counts WHERE n = 1 AND account = OLD.account AND environment = OLD.environment
    AND active = OLD.active AND dimension = 'tag' AND value = OLD.tag;
  UPDATE connection_counts SET n = n - 1 WHERE account = OLD.account AND environment = OLD.environment
    AND active = OLD.active AND dimension = 'tag' AND value = OLD.tag;
END;

------------------------------------------------------------------------------------------------------------------------
-- OAuth clients
------------------------------------------------------------------------------------------------------------------------

-- An OAuth client that a tenant registered at a platform.
CREATE TABLE oauth_clients (
  account                  TEXT    NOT NULL,
  environment              TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  platform                 TEXT    NOT NULL,
  -- Distinguishes several OAuth clients of the tenant at a platform.
  name                     TEXT    NOT NULL DEFAULT 'default',
  -- The id of the auth method that the client is for. NULL: any OAuth 2.0 method of the connector.
  auth_method              TEXT,
  client_id                TEXT    NOT NULL,
  -- The encrypted client secret. NULL: a public client.
  sealed                   TEXT,
  sealed_key               TEXT    GENERATED ALWAYS AS (substr(sealed, 1, instr(sealed, '.') - 1)) VIRTUAL,
  -- A JSON array of strings: the scopes to request if a connect request has no scopes.
  scopes                   TEXT    NOT NULL CHECK (json_type(scopes) = 'array'),
  -- JSON objects with string values.
  authorization_parameters TEXT    NOT NULL CHECK (json_type(authorization_parameters) = 'object'),
  variables                TEXT    NOT NULL CHECK (json_type(variables) = 'object'),
  created_at               INTEGER NOT NULL,
  updated_at               INTEGER NOT NULL,
  -- The circuit breaker: the time since which the platform has rejected the client, and the time after which one
  -- refresh may try it again. NULL while the platform accepts the client.
  rejected_since           INTEGER,
  probe_at                 INTEGER,
  -- The last refresh error that may concern the client or only one account, and a hash of that account. The same error
  -- for a second account shows that the client is the cause. A successful refresh clears both columns.
  suspect_error            TEXT,
  suspect_account          TEXT,
  -- The https URL of the app's page for users who start at the platform.
  start_url                TEXT,
  -- Whether authorization requests use PKCE: 'S256' or 'none'. NULL: follow the catalog.
  pkce                     TEXT,
  PRIMARY KEY (account, environment, platform, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX oauth_clients_by_sealed_key ON oauth_clients (sealed_key) WHERE sealed IS NOT NULL;

-- Serves visits that start at the platform: they do not name an account, so the start URLs of all accounts are
-- searched.
CREATE INDEX oauth_clients_with_start ON oauth_clients (account, platform, start_url) WHERE start_url IS NOT NULL;

------------------------------------------------------------------------------------------------------------------------
-- Credentials
--
-- Background jobs refresh and check credentials when `due_at` has passed. A job claims a row by setting `handed_until`,
-- so that no other job processes it, and clears it when done. If the job crashes, the row becomes due again at that
-- time.
------------------------------------------------------------------------------------------------------------------------

-- The encrypted credentials of a connection.
CREATE TABLE credentials (
  account         TEXT    NOT NULL,
  environment     TEXT    NOT NULL,
  connection_id   TEXT    NOT NULL,
  -- The id of the connector's auth method.
  auth_method     TEXT    NOT NULL,
  -- The name of the OAuth client that obtained the credentials. Only that client can refresh and revoke them.
  client          TEXT    NOT NULL DEFAULT 'default',
  type            TEXT    NOT NULL CHECK (type IN ('oauth2', 'api_key', 'basic', 'bearer', 'aws_sigv4')),
  sealed          TEXT    NOT NULL,
  sealed_key      TEXT    GENERATED ALWAYS AS (substr(sealed, 1, instr(sealed, '.') - 1)) VIRTUAL,
  -- Starts at 1; every write adds 1. A write succeeds only if this is still the version that its writer read.
  version         INTEGER NOT NULL,
  -- When the access token was issued and when it expires; NULL if unknown.
  issued_at       INTEGER,
  expires_at      INTEGER,
  -- Whether the credentials can be refreshed, and whether the platform has a revocation endpoint.
  refreshable       INTEGER NOT NULL CHECK (refreshable IN (0, 1)),
  revocable       INTEGER NOT NULL CHECK (revocable IN (0, 1)),
  -- JSON arrays of strings: the scopes that the platform granted, and the requested scopes that it did not grant.
  scopes          TEXT    NOT NULL CHECK (json_type(scopes) = 'array'),
  missing_scopes  TEXT    NOT NULL CHECK (json_type(missing_scopes) = 'array'),
  refreshed_at    INTEGER,
  -- Why the last refresh failed; NULL if it succeeded.
  reason_code     TEXT,
  reason_detail   TEXT,
  reason_status   INTEGER,
  -- The number of failed refreshes since the last success, and the time of the first one.
  attempts        INTEGER NOT NULL DEFAULT 0,
  failing_since   INTEGER,
  -- When the platform first reported that the grant had ended. A successful refresh clears it.
  refused_since   INTEGER,
  -- When the next refresh is due.
  next_attempt_at INTEGER,
  -- After a failed refresh, when a caller can request the next one: 10 seconds later, or as long as the platform's
  -- Retry-After says.
  retry_at        INTEGER,
  -- The id of the request that is refreshing the credentials, and the time at which its lease expires.
  lease           TEXT,
  lease_until     INTEGER,
  written_by      TEXT    NOT NULL,
  -- 1: imported credentials that another service still refreshes. This service does not refresh or check them.
  awaits_cut_over INTEGER NOT NULL DEFAULT 0 CHECK (awaits_cut_over IN (0, 1)),
  -- When to check unused credentials. NULL: never, because the connection has failed or awaits its cut-over.
  check_at        INTEGER,
  handed_until    INTEGER,
  due_at          INTEGER GENERATED ALWAYS AS (coalesce(handed_until, next_attempt_at, check_at)) VIRTUAL,
  PRIMARY KEY (account, environment, connection_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX credentials_by_sealed_key ON credentials (sealed_key);

-- Finds the credentials that background jobs refresh or check next.
CREATE INDEX credentials_by_due ON credentials (due_at) WHERE due_at IS NOT NULL;

-- Finds the credentials whose refresh waits for a working OAuth client: replacing the client makes them due.
CREATE INDEX credentials_rejected ON credentials (account, environment) WHERE reason_code = 'client_rejected';

-- Schedules the first check of new credentials at a random time within a day, so that credentials stored together are
-- not checked together. A row that a move copies keeps its time.
CREATE TRIGGER credentials_stored_check AFTER INSERT ON credentials
WHEN NEW.check_at IS NULL AND NEW.awaits_cut_over = 0
AND NOT EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NOT NULL) BEGIN
  UPDATE credentials SET check_at = CAST(unixepoch('subsec') * 1000 AS INTEGER) + abs(random() % 86400000)
    WHERE account = NEW.account AND environment = NEW.environment AND connection_id = NEW.connection_id;
END;

-- Schedules a check when credentials are replaced and none is scheduled, because the connection had failed or awaited
-- its cut-over.
CREATE TRIGGER credentials_replaced_check AFTER UPDATE OF sealed ON credentials
WHEN NEW.check_at IS NULL AND NEW.awaits_cut_over = 0
AND NOT EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NOT NULL) BEGIN
  UPDATE credentials SET check_at = CAST(unixepoch('subsec') * 1000 AS INTEGER) + abs(random() % 86400000)
    WHERE account = NEW.account AND environment = NEW.environment AND connection_id = NEW.connection_id;
END;

-- A grant of a deleted connection that must still be revoked at the platform.
CREATE TABLE revocations (
  account         TEXT    NOT NULL,
  environment     TEXT    NOT NULL,
  connection_id   TEXT    NOT NULL,
  platform        TEXT    NOT NULL,
  auth_method     TEXT    NOT NULL,
  -- The name of the OAuth client.
  client          TEXT    NOT NULL DEFAULT 'default',
  sealed          TEXT    NOT NULL,
  sealed_key      TEXT    GENERATED ALWAYS AS (substr(sealed, 1, instr(sealed, '.') - 1)) VIRTUAL,
  created_at      INTEGER NOT NULL,
  -- The number of revocation requests sent, and the time of the next one.
  attempts        INTEGER NOT NULL DEFAULT 0,
  next_attempt_at INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (account, environment, connection_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX revocations_by_sealed_key ON revocations (sealed_key);

-- Finds the revocations that are too old to be retried.
CREATE INDEX revocations_by_age ON revocations (created_at);

-- Finds the revocations to send next.
CREATE INDEX revocations_due ON revocations (next_attempt_at);

-- Deleting a connection deletes its credentials, but keeps the data needed to revoke them.
CREATE TRIGGER connections_deleted_credentials AFTER DELETE ON connections BEGIN
  INSERT INTO revocations (account, environment, connection_id, platform, auth_method, client, sealed, created_at)
    SELECT account, environment, connection_id, OLD.platform, auth_method, client, sealed,
      CAST(unixepoch('subsec') * 1000 AS INTEGER)
    FROM credentials
    WHERE account = OLD.account AND environment = OLD.environment AND connection_id = OLD.id AND revocable = 1
    ON CONFLICT DO NOTHING;
  DELETE FROM credentials
    WHERE account = OLD.account AND environment = OLD.environment AND connection_id = OLD.id;
END;

------------------------------------------------------------------------------------------------------------------------
-- Connect attempts
------------------------------------------------------------------------------------------------------------------------

-- An attempt to connect an account: from the link until the credentials are stored or the attempt fails.
CREATE TABLE connect_attempts (
  id                  TEXT    PRIMARY KEY NOT NULL CHECK (length(id) = 36),
  account             TEXT    NOT NULL,
  environment         TEXT    NOT NULL,
  -- The id of the API key that started it, directly or through a session token.
  key_id              TEXT    NOT NULL,
  -- pending: the user has not returned from the platform. exchanging: the authorization code is being exchanged.
  status              TEXT    NOT NULL CHECK (status IN ('pending', 'exchanging', 'succeeded', 'failed')),
  -- The connection to create or reconnect.
  connection_id       TEXT    NOT NULL,
  reconnects          INTEGER NOT NULL CHECK (reconnects IN (0, 1)),
  allow_other_account INTEGER NOT NULL CHECK (allow_other_account IN (0, 1)),
  platform            TEXT    NOT NULL,
  platform_version    TEXT    NOT NULL,
  description         TEXT    NOT NULL,
  auth_method         TEXT    NOT NULL,
  -- The name of the OAuth client.
  client              TEXT    NOT NULL DEFAULT 'default',
  identity            TEXT    NOT NULL,
  identity_type       TEXT    NOT NULL,
  label               TEXT    NOT NULL,
  name                TEXT,
  -- A JSON array of strings. NULL: a reconnected connection keeps its tags, or the attempt is over.
  tags                TEXT,
  -- A JSON array of strings: the requested scopes.
  scopes              TEXT    NOT NULL,
  return_url          TEXT,
  -- The values that the app prefilled for the user, as JSON, or NULL. When the attempt is over, only the language
  -- remains.
  presets             TEXT,
  -- Hashes of the link's secret, of the OAuth `state`, and of the cookie of the browser that opened the link.
  link_hash           TEXT    NOT NULL UNIQUE,
  state_hash          TEXT    NOT NULL UNIQUE,
  browser_hash        TEXT,
  -- The PKCE verifier, the `state` and the fields that the user filled in. NULL once the attempt is over.
  sealed              TEXT,
  sealed_key          TEXT    GENERATED ALWAYS AS (substr(sealed, 1, instr(sealed, '.') - 1)) VIRTUAL,
  -- The id of the request that exchanges the code, and the time when it started.
  claimed_by          TEXT,
  claimed_at          INTEGER,
  error_code          TEXT,
  error_detail        TEXT,
  created_at          INTEGER NOT NULL,
  expires_at          INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Counts pending attempts, to enforce the limits per identity and per account.
CREATE INDEX connect_attempts_by_identity ON connect_attempts (account, environment, identity, expires_at)
  WHERE status = 'pending';
CREATE INDEX connect_attempts_by_account ON connect_attempts (account, expires_at) WHERE status = 'pending';

-- Finds expired attempts to delete.
CREATE INDEX connect_attempts_by_age ON connect_attempts (expires_at);
-- Finds expired attempts whose secrets, tags and prefilled values must still be cleared.
CREATE INDEX connect_attempts_to_empty ON connect_attempts (expires_at)
  WHERE sealed IS NOT NULL OR tags IS NOT NULL OR presets ->> 'f' IS NOT NULL OR presets ->> 'x' IS NOT NULL;

-- Serve the lists of attempts, newest first: by status, and by identity. All attempts have the same lifetime, so
-- sorting by expiry sorts them by start time.
CREATE INDEX connect_attempts_by_status ON connect_attempts (account, environment, status, expires_at, id);
CREATE INDEX connect_attempts_of_identity ON connect_attempts (account, environment, identity, expires_at, id);

-- A connect code that has been exchanged for a session token. Codes are signed and not stored when they are issued;
-- this row prevents a second exchange.
CREATE TABLE used_codes (
  -- SHA-256 of the code.
  hash       TEXT    PRIMARY KEY NOT NULL CHECK (length(hash) = 64),
  -- The id of the request that exchanged the code, so that a retry is not mistaken for a second exchange.
  used_by    TEXT    NOT NULL,
  -- After this time, the code is rejected anyway and the row can be deleted.
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Finds expired codes to delete.
CREATE INDEX used_codes_by_expiry ON used_codes (expires_at);

------------------------------------------------------------------------------------------------------------------------
-- Events
------------------------------------------------------------------------------------------------------------------------

-- An event of the feed. D1 runs one transaction at a time, so ids are in the order of the events. The newest event is
-- never pruned, because SQLite would assign its id again.
CREATE TABLE events (
  id            INTEGER PRIMARY KEY,
  account       TEXT    NOT NULL,
  environment   TEXT    NOT NULL,
  type          TEXT    NOT NULL,
  occurred_at   INTEGER NOT NULL,
  -- The connection's id, and its row as a JSON object. Both are NULL if the event is about something else.
  connection_id TEXT,
  connection    TEXT,
  -- What the event is about, if not a connection: a JSON object with one member.
  subject       TEXT,
  -- A JSON object, or NULL.
  reason        TEXT,
  -- For events about calls: a JSON object with the called action or path, the caller and the outcome.
  call          TEXT,
  -- For `connection.called`: the running number of this call on its day (UTC), for the tenant and for the token's
  -- identity. The last event thus shows whether the daily limit is reached, without counting rows.
  tenant_call   INTEGER,
  identity_call INTEGER,
  CHECK ((connection IS NULL) = (subject IS NOT NULL))
) STRICT;

-- Serve the feed of a tenant, and the history of a connection.
CREATE INDEX events_by_tenant     ON events (account, environment, id);
CREATE INDEX events_by_connection ON events (account, environment, connection_id, id) WHERE connection_id IS NOT NULL;
-- Find the last call of a tenant, and of an identity.
CREATE INDEX events_of_calls      ON events (account, environment, id) WHERE tenant_call IS NOT NULL;
CREATE INDEX events_of_callers    ON events (account, environment, call ->> 'identity', id)
  WHERE identity_call IS NOT NULL;

-- The current state of each connection, as an event with an empty type.
CREATE VIEW connection_events (seq, account, environment, type, connection_id, connection, reason, keeps_tags) AS
  SELECT c.seq, c.account, c.environment, '', c.id,
    json_object('id', c.id, 'platform_version', c.platform_version, 'name', c.name, 'environment', c.environment,
      'platform', c.platform, 'label', c.label, 'identity', c.identity, 'identity_type', c.identity_type,
      'description', c.description, 'state', c.state, 'tags', c.tags, 'version', c.version, 'active', c.active,
      'created_at', c.created_at, 'written_by', c.written_by, 'platform_account_id', c.platform_account_id,
      'platform_account_name', c.platform_account_name),
    iif(c.state IN ('degraded', 'failed'),
      (SELECT json_object('code', h.reason_code, 'detail', h.reason_detail, 'httpStatus', h.reason_status)
        FROM credentials h
        WHERE h.account = c.account AND h.environment = c.environment AND h.connection_id = c.id
          AND h.reason_code IS NOT NULL
        UNION ALL
        SELECT json_object('code', 'reported', 'detail', c.state_reason, 'httpStatus', NULL)
        WHERE c.state_reason IS NOT NULL
        LIMIT 1),
      NULL), 0
  FROM connections c;

-- Inserting (seq, type, keeps_tags) into the view writes an event about the connection with this `seq`. Changes of
-- states, scopes and credentials can be frequent, even while the database is full, and a platform, which may belong to
-- the user, can trigger them. So events of changes that keep the tags omit tags of more than 1024 characters; so do
-- events of calls.
CREATE TRIGGER connection_event INSTEAD OF INSERT ON connection_events BEGIN
  INSERT INTO events (account, environment, type, occurred_at, connection_id, connection, reason)
    SELECT account, environment, NEW.type, CAST(unixepoch('subsec') * 1000 AS INTEGER), connection_id,
      iif(length(connection ->> 'tags') > 1024 AND NEW.keeps_tags,
        json_set(connection, '$.tags', '[]'), connection),
      iif(NEW.type IN ('connection.degraded', 'connection.failed'), reason, NULL)
    FROM connection_events WHERE seq = NEW.seq;
END;

CREATE TRIGGER connections_created_event AFTER INSERT ON connections BEGIN
  INSERT INTO connection_events (seq, type) VALUES (NEW.seq, 'connection.created');
  INSERT INTO connection_events (seq, type, keeps_tags)
    SELECT NEW.seq, 'connection.connected', 1 WHERE NEW.connected_by IS NOT NULL;
END;

-- Writes one event per change. Connecting an account counts as reconnecting if the connection already has credentials.
CREATE TRIGGER connections_updated_event AFTER UPDATE ON connections WHEN NEW.version <> OLD.version BEGIN
  INSERT INTO connection_events (seq, type, keeps_tags) SELECT NEW.seq, 'connection.' || CASE
    WHEN NEW.connected_by IS NOT OLD.connected_by THEN iif(
      EXISTS (SELECT 1 FROM credentials h
        WHERE h.account = NEW.account AND h.environment = NEW.environment AND h.connection_id = NEW.id),
      'reconnected', 'connected')
    WHEN NEW.state <> OLD.state AND NEW.state IN ('degraded', 'failed') THEN NEW.state
    WHEN NEW.state = 'operational' AND OLD.state IN ('degraded', 'failed') THEN 'recovered'
    ELSE 'updated'
  END, NEW.tags = OLD.tags;
END;

-- BEFORE, because the event contains the deleted row.
CREATE TRIGGER connections_deleted_event BEFORE DELETE ON connections BEGIN
  INSERT INTO connection_events (seq, type) VALUES (OLD.seq, 'connection.deleted');
END;

-- Writes an event when the platform grants a different set of scopes. A different order is not a change.
CREATE TRIGGER credentials_scopes_event AFTER UPDATE OF scopes ON credentials WHEN NEW.scopes <> OLD.scopes BEGIN
  INSERT INTO connection_events (seq, type, keeps_tags)
    SELECT c.seq, 'connection.scopes_changed', 1 FROM connections c
    WHERE c.account = NEW.account AND c.environment = NEW.environment AND c.id = NEW.connection_id AND EXISTS (
      SELECT 1 FROM (SELECT value FROM json_each(NEW.scopes) EXCEPT SELECT value FROM json_each(OLD.scopes))
      UNION ALL
      SELECT 1 FROM (SELECT value FROM json_each(OLD.scopes) EXCEPT SELECT value FROM json_each(NEW.scopes)));
END;

-- Writes an event when the circuit breaker of an OAuth client opens.
CREATE TRIGGER oauth_clients_rejected_event AFTER UPDATE OF rejected_since ON oauth_clients
WHEN OLD.rejected_since IS NULL AND NEW.rejected_since IS NOT NULL BEGIN
  INSERT INTO events (account, environment, type, occurred_at, subject, reason) VALUES (
    NEW.account, NEW.environment, 'oauth_client.rejected', CAST(unixepoch('subsec') * 1000 AS INTEGER),
    json_object('oauthClient', json_object('platform', NEW.platform, 'name', NEW.name, 'clientId', NEW.client_id)),
    json_object('code', 'client_rejected', 'detail', NULL, 'httpStatus', NULL));
END;

------------------------------------------------------------------------------------------------------------------------
-- Webhooks
------------------------------------------------------------------------------------------------------------------------

-- An endpoint of the app to which the service sends events.
CREATE TABLE webhooks (
  account         TEXT    NOT NULL,
  environment     TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  -- `wh_` and a UUID.
  id              TEXT    NOT NULL UNIQUE,
  url             TEXT    NOT NULL,
  description     TEXT,
  -- A JSON array of strings: the event types to send. Empty: all types.
  types           TEXT    NOT NULL CHECK (json_type(types) = 'array'),
  active          INTEGER NOT NULL CHECK (active IN (0, 1)),
  -- The signing secrets (src/webhooks/secret.rs).
  sealed          TEXT    NOT NULL,
  sealed_key      TEXT    GENERATED ALWAYS AS (substr(sealed, 1, instr(sealed, '.') - 1)) VIRTUAL,
  -- The time of the first failure since the last successful delivery; NULL if there is none.
  failing_since   INTEGER,
  -- Why the service disabled the webhook; NULL if it did not.
  disabled_code   TEXT,
  disabled_status INTEGER,
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  written_by      TEXT    NOT NULL,
  PRIMARY KEY (account, environment, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX webhooks_by_sealed_key ON webhooks (sealed_key);

-- The delivery of an event to a webhook.
CREATE TABLE deliveries (
  webhook_id      TEXT    NOT NULL,
  event_id        INTEGER NOT NULL,
  state           TEXT    NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed')),
  attempts        INTEGER NOT NULL DEFAULT 0,
  -- 0: immediately. NULL: the delivery has ended.
  next_attempt_at INTEGER DEFAULT 0,
  -- The last attempt: its time, the status or error of the response, and its duration.
  attempted_at    INTEGER,
  status          INTEGER,
  error           TEXT,
  duration_ms     INTEGER,
  -- The id of the request that is attempting the delivery, and the time at which its lease expires.
  lease           TEXT,
  lease_until     INTEGER,
  due_at          INTEGER GENERATED ALWAYS AS (coalesce(lease_until, next_attempt_at)) VIRTUAL,
  PRIMARY KEY (webhook_id, event_id)
) STRICT, WITHOUT ROWID;

-- Finds due deliveries, and the deliveries of one claim.
CREATE INDEX deliveries_by_due ON deliveries (due_at) WHERE due_at IS NOT NULL;
-- Serves the list of a webhook's deliveries by state.
CREATE INDEX deliveries_by_state ON deliveries (webhook_id, state, event_id);
-- Finds the next deliveries of a webhook. Each webhook's deliveries are claimed separately, so that a receiver that
-- does not respond does not delay the others.
CREATE INDEX deliveries_by_webhook ON deliveries (webhook_id, due_at) WHERE due_at IS NOT NULL;

-- Writes a delivery for each webhook that subscribes to the event's type.
CREATE TRIGGER events_deliveries AFTER INSERT ON events BEGIN
  INSERT INTO deliveries (webhook_id, event_id)
    SELECT w.id, NEW.id FROM webhooks w
    WHERE w.account = NEW.account AND w.environment = NEW.environment AND w.active = 1
      AND (w.types = '[]' OR EXISTS (SELECT 1 FROM json_each(w.types) WHERE value = NEW.type));
END;

-- Pruned events are no longer sent.
CREATE TRIGGER events_pruned_deliveries AFTER DELETE ON events BEGIN
  DELETE FROM deliveries WHERE event_id = OLD.id AND webhook_id IN (
    SELECT id FROM webhooks WHERE account = OLD.account AND environment = OLD.environment);
END;

CREATE TRIGGER webhooks_deleted_deliveries AFTER DELETE ON webhooks BEGIN
  DELETE FROM deliveries WHERE webhook_id = OLD.id;
END;

-- Ends the pending deliveries of a deactivated webhook. The request that activates it again chooses the first event to
-- send. If the service itself disabled the webhook, this also writes an event.
CREATE TRIGGER webhooks_inactive_deliveries AFTER UPDATE OF active ON webhooks
WHEN OLD.active = 1 AND NEW.active = 0 BEGIN
  UPDATE deliveries SET state = 'failed', error = coalesce(error, 'webhook_inactive'), next_attempt_at = NULL,
      lease = NULL, lease_until = NULL
    WHERE webhook_id = NEW.id AND state = 'pending';
  INSERT INTO events (account, environment, type, occurred_at, subject, reason)
    SELECT NEW.account, NEW.environment, 'webhook.disabled', CAST(unixepoch('subsec') * 1000 AS INTEGER),
      json_object('webhook', json_object('id', NEW.id)),
      json_object('code', NEW.disabled_code, 'detail', NULL, 'httpStatus', NEW.disabled_status)
    WHERE NEW.disabled_code IS NOT NULL;
END;

------------------------------------------------------------------------------------------------------------------------
-- Agents: sign-in for MCP clients, and calls that wait for a user's approval
------------------------------------------------------------------------------------------------------------------------

-- The MCP endpoint of a tenant, and the configuration of its sign-in.
CREATE TABLE agent_endpoints (
  -- The random last segment of `/mcp/{endpointId}`. It is kept while sign-in is off, because the users' agents are
  -- configured with this URL.
  id             TEXT    PRIMARY KEY NOT NULL,
  account        TEXT    NOT NULL,
  environment    TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  -- The type of sign-in: an OpenID provider, or the tenant's own app. NULL: sign-in is off.
  type           TEXT    CHECK (type IN ('oidc', 'app')),
  -- The id of the key that configured the sign-in. When this key ends, so do the grants made through an OpenID
  -- provider.
  key_id         TEXT    NOT NULL,
  -- Only for an OpenID provider.
  issuer         TEXT    CHECK ((issuer IS NULL) = (type IS NOT 'oidc')),
  client_id      TEXT    CHECK ((client_id IS NULL) = (type IS NOT 'oidc')),
  sealed         TEXT,
  sealed_key     TEXT    GENERATED ALWAYS AS (substr(sealed, 1, instr(sealed, '.') - 1)) VIRTUAL,
  identity_claim TEXT,
  identity_type  TEXT,
  -- Which calls need approval, for all grants. With the type `app`, the app decides this for each user.
  confirm        TEXT    CHECK (confirm IS NULL OR (confirm IN ('write', 'destructive') AND type IS 'oidc')),
  -- Only for an app.
  url            TEXT    CHECK ((url IS NULL) = (type IS NOT 'app')),
  created_at     INTEGER NOT NULL,
  updated_at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A tenant has at most one endpoint.
CREATE UNIQUE INDEX agent_endpoints_by_account ON agent_endpoints (account, environment);
CREATE INDEX agent_endpoints_by_sealed_key ON agent_endpoints (sealed_key) WHERE sealed IS NOT NULL;

-- The access that a user granted to an agent or, before the user's consent, the request for it.
CREATE TABLE agent_grants (
  id            TEXT    PRIMARY KEY NOT NULL,
  account       TEXT    NOT NULL,
  environment   TEXT    NOT NULL,
  endpoint      TEXT    NOT NULL,
  -- The id of the key on whose behalf the agent acts. The agent has at most the key's scopes, while the key is valid.
  key_id        TEXT    NOT NULL,
  -- authenticated: the app has authenticated the user. opened: the user has seen the consent page. consented: the user
  -- has agreed, but the code has not been exchanged. active: the agent has tokens.
  state         TEXT    NOT NULL CHECK (state IN ('authenticated', 'opened', 'consented', 'active')),
  identity      TEXT    NOT NULL,
  identity_type TEXT,
  -- Platform names, separated by commas. NULL: all platforms.
  platforms     TEXT,
  access        TEXT    NOT NULL CHECK (access IN ('read', 'write')),
  -- The access that the client requested.
  requested     TEXT    NOT NULL CHECK (requested IN ('read', 'write')),
  -- `platform/key` or `platform/prefix*`, separated by commas. NULL: all actions.
  actions       TEXT,
  -- Connection ids, separated by commas. NULL: all connections of the identity.
  connections   TEXT,
  -- SHA-256 of the client id. If that is the URL of a metadata document, `client_url` contains it.
  client_hash   TEXT    NOT NULL,
  client_url    TEXT,
  client_name   TEXT,
  redirect_uri  TEXT    NOT NULL,
  -- The `state` parameter of the client's request. NULL once it has been returned.
  client_state  TEXT,
  challenge     TEXT    NOT NULL,
  -- A hash of the cookie that the authorization endpoint set in the browser.
  browser_hash  TEXT    NOT NULL,
  -- A hash of the secret in `continueUrl`; after consent, of the authorization code.
  secret_hash   TEXT    NOT NULL UNIQUE,
  -- The id of the request that opened the consent page, agreed, or exchanged the code. Each step is possible only once.
  claimed_by    TEXT,
  -- The generation of the newest refresh token that was used, and the time of its first use.
  generation    INTEGER NOT NULL DEFAULT 0,
  rotated_at    INTEGER NOT NULL DEFAULT 0,
  created_at    INTEGER NOT NULL,
  last_used_at  INTEGER,
  expires_at    INTEGER NOT NULL,
  -- Which calls need the user's approval: all that may change data, or only those that delete. NULL: none.
  confirm TEXT CHECK (confirm IN ('write', 'destructive'))
) STRICT, WITHOUT ROWID;

-- Serve the lists of active grants, newest first, by tenant and by identity.
CREATE INDEX agent_grants_listed ON agent_grants (account, environment, created_at DESC, id DESC)
  WHERE state = 'active';
CREATE INDEX agent_grants_of_identity ON agent_grants (account, environment, identity, created_at DESC, id DESC)
  WHERE state = 'active';

-- Counts a user's requests that wait for consent, to limit them.
CREATE INDEX agent_grants_requested ON agent_grants (account, environment, identity, expires_at)
  WHERE state IN ('authenticated', 'opened');

-- Finds expired grants to delete.
CREATE INDEX agent_grants_by_age ON agent_grants (expires_at);

-- An agent's call that needs the user's approval, or a link for the user: see `state`.
CREATE TABLE agent_approvals (
  id                TEXT    PRIMARY KEY NOT NULL,
  account           TEXT    NOT NULL,
  environment       TEXT    NOT NULL,
  -- Both are NULL for a download that a key or a session token requested. For a call with a session token, `grant_id`
  -- is `session:` followed by a hash of its key and identity.
  endpoint          TEXT    CHECK (endpoint IS NOT NULL OR state = 'download'),
  grant_id          TEXT    CHECK (grant_id IS NOT NULL OR state = 'download'),
  -- The id of the key on whose behalf the agent acts.
  key_id            TEXT    NOT NULL,
  -- The user who must approve the call, or who owns the file.
  identity          TEXT    NOT NULL,
  identity_type     TEXT,
  connection_id     TEXT    NOT NULL,
  action            TEXT    NOT NULL,
  title             TEXT    NOT NULL,
  method            TEXT    NOT NULL,
  -- pending: waits for the user. approved: is running. done: has run. declined: will not run. download: a `GET` call
  -- whose response is a file; opening the link repeats it. connect: a link to a connect attempt.
  state             TEXT    NOT NULL
                    CHECK (state IN ('pending', 'approved', 'done', 'declined', 'download', 'connect')),
  -- The input of the call or, once it has run, the response; the request of a download; the attempt's own link.
  sealed            TEXT    NOT NULL,
  sealed_key        TEXT    GENERATED ALWAYS AS (substr(sealed, 1, instr(sealed, '.') - 1)) VIRTUAL,
  -- The id of the request that had connected the account when the agent made the call. The approval is void after a
  -- reconnect.
  connected_by      TEXT,
  -- A hash of the one-time secret in `continueUrl`, with which the app redirects the user to the approval page.
  secret_hash       TEXT    UNIQUE,
  secret_expires_at INTEGER,
  -- A hash of the cookie of the browser in which the user signed in.
  browser_hash      TEXT,
  -- The id of the request that last changed the state.
  claimed_by        TEXT,
  created_at        INTEGER NOT NULL,
  expires_at        INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Enforces the limit on a grant's pending approvals.
CREATE INDEX agent_approvals_of_grant ON agent_approvals (grant_id, expires_at);
CREATE INDEX agent_approvals_of_browser ON agent_approvals (browser_hash) WHERE browser_hash IS NOT NULL;
CREATE INDEX agent_approvals_by_age ON agent_approvals (expires_at);
CREATE INDEX agent_approvals_by_sealed_key ON agent_approvals (sealed_key);
-- Enforces the limit on an identity's downloads.
CREATE INDEX agent_approvals_of_key ON agent_approvals (key_id, identity, expires_at) WHERE state = 'download';

-- Writes an event when the user approves or declines a call.
CREATE TRIGGER agent_approvals_decided_event AFTER UPDATE OF state ON agent_approvals
WHEN OLD.state = 'pending' AND NEW.state IN ('approved', 'declined') BEGIN
  INSERT INTO events (account, environment, type, occurred_at, connection_id, connection, call)
  SELECT e.account, e.environment, 'call.' || NEW.state, CAST(unixepoch('subsec') * 1000 AS INTEGER),
    e.connection_id, e.connection,
    json_object('method', NEW.method, 'action', NEW.action, 'approval', NEW.id, 'keyId', NEW.key_id,
      'identity', NEW.identity)
  FROM connection_events e
  WHERE e.account = NEW.account AND e.environment = NEW.environment AND e.connection_id = NEW.connection_id;
END;

------------------------------------------------------------------------------------------------------------------------
-- Console: configuration of sign-in, and sessions
------------------------------------------------------------------------------------------------------------------------

-- The configuration of a tenant's sign-in to the console.
CREATE TABLE console_sign_ins (
  -- The random last segment of `/sign-in/{signInId}`.
  id          TEXT    PRIMARY KEY NOT NULL,
  account     TEXT    NOT NULL,
  environment TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  -- The type of sign-in: an OpenID provider, or Cloudflare Access in front of the service.
  type        TEXT    NOT NULL CHECK (type IN ('oidc', 'access')),
  -- The id of the key that configured the sign-in. People have at most its scopes, and lose access when it ends.
  key_id      TEXT    NOT NULL,
  issuer      TEXT    NOT NULL,
  -- The client id at the OpenID provider; with Access, the audience of the application.
  client_id   TEXT    NOT NULL,
  sealed      TEXT    CHECK (sealed IS NULL OR type = 'oidc'),
  sealed_key  TEXT    GENERATED ALWAYS AS (substr(sealed, 1, instr(sealed, '.') - 1)) VIRTUAL,
  -- The claim that contains a person's roles: its name, or a JSON Pointer.
  claim       TEXT    NOT NULL,
  -- A JSON object from each role to its scopes, separated by spaces.
  roles       TEXT    NOT NULL CHECK (json_valid(roles)),
  -- The scopes to request from the provider, separated by spaces. NULL: the default.
  scopes      TEXT    CHECK (scopes IS NULL OR type = 'oidc'),
  created_at  INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A tenant has at most one sign-in.
CREATE UNIQUE INDEX console_sign_ins_by_account ON console_sign_ins (account, environment);
CREATE INDEX console_sign_ins_by_sealed_key ON console_sign_ins (sealed_key) WHERE sealed IS NOT NULL;
CREATE INDEX console_sign_ins_by_key ON console_sign_ins (key_id);

-- The session of a person who signed in. Ending a session deletes its row.
CREATE TABLE console_sessions (
  id           TEXT    PRIMARY KEY NOT NULL,
  account      TEXT    NOT NULL,
  environment  TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  -- The id in `console_sign_ins`.
  sign_in      TEXT    NOT NULL,
  -- The id of the key that configured the sign-in.
  key_id       TEXT    NOT NULL,
  -- The verified email address or, without one, the subject at the provider.
  person       TEXT    NOT NULL,
  -- Separated by spaces. A scope is effective only while the key also has it.
  scopes       TEXT    NOT NULL,
  -- A hash of the cookie of the browser in which the sign-in started.
  browser_hash TEXT    NOT NULL,
  -- A hash of the one-time code that the console exchanges for a token. NULL after the exchange.
  code_hash    TEXT,
  -- The id of the request that exchanged the code.
  claimed_by   TEXT,
  created_at   INTEGER NOT NULL,
  used_at      INTEGER NOT NULL,
  expires_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Serves the list of a tenant's sessions, newest first.
CREATE INDEX console_sessions_listed ON console_sessions (account, environment, created_at DESC, id DESC);
CREATE INDEX console_sessions_by_key ON console_sessions (key_id);

-- Finds expired sessions to delete.
CREATE INDEX console_sessions_by_age ON console_sessions (expires_at);

-- A rotated key passes its sign-in on to its replacement, so that the rotation does not lock people out.
CREATE TRIGGER api_keys_replaced_console AFTER UPDATE OF replaced_by ON api_keys
WHEN NEW.replaced_by IS NOT NULL AND OLD.replaced_by IS NULL BEGIN
  UPDATE console_sign_ins SET key_id = NEW.replaced_by WHERE key_id = NEW.id;
  UPDATE console_sessions SET key_id = NEW.replaced_by WHERE key_id = NEW.id;
END;

------------------------------------------------------------------------------------------------------------------------
-- Branding
------------------------------------------------------------------------------------------------------------------------

-- How a tenant's app is presented to its end users. NULL: the value from the service's configuration.
CREATE TABLE branding (
  account     TEXT    NOT NULL,
  environment TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  name        TEXT,
  -- A `data:` URL.
  logo        TEXT    CHECK (logo LIKE 'data:image/%'),
  -- The accent colour, such as #1a2b3c.
  color       TEXT    CHECK (length(color) = 7),
  url         TEXT,
  updated_at  INTEGER NOT NULL,
  PRIMARY KEY (account, environment)
) STRICT, WITHOUT ROWID;

------------------------------------------------------------------------------------------------------------------------
-- Audit: who changed API keys, OAuth clients, webhooks, sign-ins, grants, console sessions, branding and connections,
-- and who read credentials
--
-- Triggers write the entries of changes. They take the actor from `audit_context`, which a batch fills first and clears
-- last; without an actor, the service itself made the change. Entries contain ids and action names, never values.
------------------------------------------------------------------------------------------------------------------------

CREATE TABLE audit (
  -- Orders the entries of this database for pruning. A move does not copy it.
  seq         INTEGER PRIMARY KEY,
  account     TEXT    NOT NULL,
  environment TEXT    NOT NULL,
  -- `aud_` and 25 hexadecimal digits: 11 for the time, 6 for the sequence number, 8 for the request. So ids sort by
  -- time.
  id          TEXT    NOT NULL CHECK (length(id) = 29),
  at          INTEGER NOT NULL,
  action      TEXT    NOT NULL,
  actor_type  TEXT    NOT NULL CHECK (actor_type IN ('key', 'token', 'person', 'grant', 'operator', 'service')),
  -- The id of the key or of the agent's grant, or the identity of the token or of the person.
  actor       TEXT    CHECK ((actor IS NULL) = (actor_type IN ('operator', 'service'))),
  -- The id of the key on whose behalf the actor acts. NULL for the operator and the service.
  key_id      TEXT,
  target_type TEXT    NOT NULL,
  target      TEXT    NOT NULL,
  -- NULL if the change was not made by a request.
  request_id  TEXT,
  -- The number of occurrences. Only reads of credentials are combined, so it is 1 for everything else.
  count       INTEGER NOT NULL DEFAULT 1
) STRICT;

-- Serve the lists of entries, newest first: of a tenant, of a target, and of an actor.
CREATE UNIQUE INDEX audit_listed ON audit (account, environment, id);
CREATE INDEX audit_by_target ON audit (account, environment, target, id);
CREATE INDEX audit_by_actor ON audit (account, environment, actor, id) WHERE actor IS NOT NULL;

-- The actor of the running batch. Empty outside batches.
CREATE TABLE audit_context (
  one        INTEGER PRIMARY KEY CHECK (one = 1),
  at         INTEGER NOT NULL,
  actor_type TEXT    NOT NULL,
  actor      TEXT,
  key_id     TEXT,
  request_id TEXT
) STRICT;

-- Inserting into this view writes an audit entry with the actor of the running batch.
CREATE VIEW audited (account, environment, action, target_type, target) AS
  SELECT account, environment, action, target_type, target FROM audit;

-- Writes no entry for rows that a move copies, nor a second entry of one request for the same target, because a batch
-- is retried if its response is lost.
CREATE TRIGGER audit_entry INSTEAD OF INSERT ON audited
WHEN NOT EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NOT NULL) BEGIN
  -- Each change of a connection stores an event with all its tags, and each sign-in stores an entry for AUDIT_DAYS. To
  -- limit the space, an end user can make 1000 changes of connections, and 1000 of each type of sign-in, in 24 hours.
  -- Deletions free space, and reading credentials stores no event, so neither counts.
  SELECT RAISE(ABORT, 'too many changes within 24 hours') FROM audit_context c
    WHERE c.actor_type IN ('token', 'grant', 'person')
      AND NEW.target_type IN ('connection', 'agent_grant', 'console_session')
      AND NEW.action NOT IN ('connection.deleted', 'credentials.read', 'agent_grant.declined', 'agent_grant.revoked',
        'console_session.ended')
      AND (SELECT a.id FROM audit a INDEXED BY audit_by_actor
        WHERE a.account = NEW.account AND a.environment = NEW.environment AND a.actor = c.actor
          AND a.id >= printf('aud_%011x', c.at - 86400000)
          AND a.target_type = NEW.target_type AND a.action <> 'credentials.read'
        ORDER BY a.id LIMIT 1 OFFSET 999) IS NOT NULL;
  INSERT INTO audit (account, environment, id, at, action, actor_type, actor, key_id, target_type, target, request_id)
    SELECT NEW.account, NEW.environment,
      printf('aud_%011x%06x%s', t.at, (SELECT ifnull(max(seq), 0) + 1 FROM audit) & 16777215,
        ifnull(substr(c.request_id, 1, 8), '00000000')),
      t.at, NEW.action, ifnull(c.actor_type, 'service'), c.actor, c.key_id, NEW.target_type, NEW.target, c.request_id
    FROM (SELECT coalesce((SELECT at FROM audit_context), CAST(unixepoch('subsec') * 1000 AS INTEGER)) AS at) t
    LEFT JOIN audit_context c
    WHERE c.request_id IS NULL OR NOT EXISTS (
      SELECT 1 FROM audit a INDEXED BY audit_by_target
      WHERE a.account = NEW.account AND a.environment = NEW.environment AND a.target = NEW.target
        AND a.id >= printf('aud_%011x', t.at - 60000) AND a.request_id = c.request_id);
END;

CREATE TRIGGER api_keys_inserted_audit AFTER INSERT ON api_keys BEGIN
  INSERT INTO audited VALUES (NEW.account, NEW.environment, 'key.created', 'key', NEW.id);
END;

CREATE TRIGGER api_keys_replaced_audit AFTER UPDATE OF replaced_by ON api_keys
WHEN NEW.replaced_by IS NOT NULL AND OLD.replaced_by IS NULL BEGIN
  INSERT INTO audited VALUES (NEW.account, NEW.environment, 'key.rotated', 'key', NEW.id);
END;

-- A rotation that replaces and revokes a key in one statement writes only the entry `key.rotated`.
CREATE TRIGGER api_keys_revoked_audit AFTER UPDATE OF revoked_at ON api_keys
WHEN NEW.revoked_at IS NOT NULL AND OLD.revoked_at IS NULL AND NEW.replaced_by IS OLD.replaced_by BEGIN
  INSERT INTO audited VALUES (NEW.account, NEW.environment, 'key.revoked', 'key', NEW.id);
END;

CREATE TRIGGER oauth_clients_inserted_audit AFTER INSERT ON oauth_clients BEGIN
  INSERT INTO audited
    VALUES (NEW.account, NEW.environment, 'oauth_client.created', 'oauth_client',
      NEW.platform || iif(NEW.name = 'default', '', '/' || NEW.name));
END;

-- OF client_id, because only a statement that replaces the client sets that column: the circuit breaker and a rotation
-- of encryption keys do not.
CREATE TRIGGER oauth_clients_updated_audit AFTER UPDATE OF client_id ON oauth_clients
WHEN (NEW.auth_method, NEW.client_id, NEW.sealed, NEW.scopes, NEW.authorization_parameters, NEW.variables,
    NEW.start_url, NEW.pkce, NEW.updated_at)
  IS NOT (OLD.auth_method, OLD.client_id, OLD.sealed, OLD.scopes, OLD.authorization_parameters, OLD.variables,
    OLD.start_url, OLD.pkce, OLD.updated_at) BEGIN
  INSERT INTO audited
    VALUES (NEW.account, NEW.environment, 'oauth_client.updated', 'oauth_client',
      NEW.platform || iif(NEW.name = 'default', '', '/' || NEW.name));
END;

CREATE TRIGGER oauth_clients_deleted_audit AFTER DELETE ON oauth_clients BEGIN
  INSERT INTO audited
    VALUES (OLD.account, OLD.environment, 'oauth_client.deleted', 'oauth_client',
      OLD.platform || iif(OLD.name = 'default', '', '/' || OLD.name));
END;

CREATE TRIGGER webhooks_inserted_audit AFTER INSERT ON webhooks BEGIN
  INSERT INTO audited VALUES (NEW.account, NEW.environment, 'webhook.created', 'webhook', NEW.id);
END;

-- If `written_by` is unchanged, the service itself disabled the webhook.
CREATE TRIGGER webhooks_updated_audit AFTER UPDATE ON webhooks
WHEN NEW.written_by <> OLD.written_by OR NEW.active <> OLD.active BEGIN
  INSERT INTO audited VALUES (NEW.account, NEW.environment, CASE
      WHEN NEW.written_by = OLD.written_by THEN 'webhook.disabled'
      WHEN NEW.sealed <> OLD.sealed THEN 'webhook.rotated'
      ELSE 'webhook.updated'
    END, 'webhook', NEW.id);
END;

CREATE TRIGGER webhooks_deleted_audit AFTER DELETE ON webhooks BEGIN
  INSERT INTO audited VALUES (OLD.account, OLD.environment, 'webhook.deleted', 'webhook', OLD.id);
END;

-- OF type, because only a statement that configures the sign-in sets that column.
CREATE TRIGGER agent_endpoints_updated_audit AFTER UPDATE OF type ON agent_endpoints
WHEN (NEW.type, NEW.key_id, NEW.issuer, NEW.client_id, NEW.sealed, NEW.identity_claim, NEW.identity_type, NEW.url,
    NEW.updated_at)
  IS NOT (OLD.type, OLD.key_id, OLD.issuer, OLD.client_id, OLD.sealed, OLD.identity_claim, OLD.identity_type, OLD.url,
    OLD.updated_at) BEGIN
  INSERT INTO audited VALUES (NEW.account, NEW.environment,
    iif(NEW.type IS NULL, 'agent_sign_in.deleted', 'agent_sign_in.updated'), 'agent_sign_in', NEW.id);
END;

CREATE TRIGGER agent_grants_inserted_audit AFTER INSERT ON agent_grants BEGIN
  INSERT INTO audited VALUES (NEW.account, NEW.environment, 'agent_grant.requested', 'agent_grant', NEW.id);
END;

CREATE TRIGGER agent_grants_consented_audit AFTER UPDATE OF state ON agent_grants
WHEN NEW.state = 'consented' AND OLD.state <> 'consented' BEGIN
  INSERT INTO audited VALUES (NEW.account, NEW.environment, 'agent_grant.created', 'agent_grant', NEW.id);
END;

-- Deleting an expired grant writes no entry, because the grant had already ended.
CREATE TRIGGER agent_grants_deleted_audit AFTER DELETE ON agent_grants
WHEN OLD.expires_at > coalesce((SELECT at FROM audit_context), CAST(unixepoch('subsec') * 1000 AS INTEGER)) BEGIN
  INSERT INTO audited VALUES (OLD.account, OLD.environment,
    iif(OLD.state IN ('consented', 'active'), 'agent_grant.revoked', 'agent_grant.declined'), 'agent_grant', OLD.id);
END;

CREATE TRIGGER console_sign_ins_inserted_audit AFTER INSERT ON console_sign_ins BEGIN
  INSERT INTO audited
    VALUES (NEW.account, NEW.environment, 'console_sign_in.updated', 'console_sign_in', NEW.id);
END;

-- OF type, because only a statement that configures the sign-in sets that column.
CREATE TRIGGER console_sign_ins_updated_audit AFTER UPDATE OF type ON console_sign_ins
WHEN (NEW.type, NEW.key_id, NEW.issuer, NEW.client_id, NEW.sealed, NEW.claim, NEW.roles, NEW.scopes, NEW.updated_at)
  IS NOT (OLD.type, OLD.key_id, OLD.issuer, OLD.client_id, OLD.sealed, OLD.claim, OLD.roles, OLD.scopes,
    OLD.updated_at) BEGIN
  INSERT INTO audited
    VALUES (NEW.account, NEW.environment, 'console_sign_in.updated', 'console_sign_in', NEW.id);
END;

CREATE TRIGGER console_sign_ins_deleted_audit AFTER DELETE ON console_sign_ins BEGIN
  INSERT INTO audited
    VALUES (OLD.account, OLD.environment, 'console_sign_in.deleted', 'console_sign_in', OLD.id);
END;

CREATE TRIGGER console_sessions_inserted_audit AFTER INSERT ON console_sessions BEGIN
  INSERT INTO audited
    VALUES (NEW.account, NEW.environment, 'console_session.created', 'console_session', NEW.id);
END;

-- Deleting an expired session writes no entry, because the session had already ended.
CREATE TRIGGER console_sessions_deleted_audit AFTER DELETE ON console_sessions
WHEN OLD.expires_at > coalesce((SELECT at FROM audit_context), CAST(unixepoch('subsec') * 1000 AS INTEGER)) BEGIN
  INSERT INTO audited
    VALUES (OLD.account, OLD.environment, 'console_session.ended', 'console_session', OLD.id);
END;

CREATE TRIGGER branding_inserted_audit AFTER INSERT ON branding BEGIN
  INSERT INTO audited VALUES (NEW.account, NEW.environment, 'branding.updated', 'branding', 'branding');
END;

CREATE TRIGGER branding_updated_audit AFTER UPDATE ON branding
WHEN (NEW.name, NEW.logo, NEW.color, NEW.url, NEW.updated_at)
  IS NOT (OLD.name, OLD.logo, OLD.color, OLD.url, OLD.updated_at) BEGIN
  INSERT INTO audited VALUES (NEW.account, NEW.environment, 'branding.updated', 'branding', 'branding');
END;

CREATE TRIGGER connections_inserted_audit AFTER INSERT ON connections BEGIN
  INSERT INTO audited VALUES (NEW.account, NEW.environment, 'connection.created', 'connection', NEW.id);
END;

CREATE TRIGGER connections_updated_audit AFTER UPDATE ON connections WHEN NEW.version <> OLD.version BEGIN
  INSERT INTO audited VALUES (NEW.account, NEW.environment, CASE
      WHEN NEW.connected_by IS NOT OLD.connected_by THEN 'connection.connected'
      WHEN NEW.state <> OLD.state OR NEW.active <> OLD.active THEN 'connection.state_changed'
      ELSE 'connection.updated'
    END, 'connection', NEW.id);
END;

CREATE TRIGGER connections_deleted_audit AFTER DELETE ON connections BEGIN
  INSERT INTO audited VALUES (OLD.account, OLD.environment, 'connection.deleted', 'connection', OLD.id);
END;

------------------------------------------------------------------------------------------------------------------------
-- Usage: the number of requests per day
------------------------------------------------------------------------------------------------------------------------

-- The number of requests per tenant, day, endpoint, status, platform and identity. A tenant has at most 1000 rows per
-- day; beyond that, one more row for each endpoint and status counts all other requests. All isolates add to the same
-- rows.
CREATE TABLE usage (
  account     TEXT    NOT NULL,
  environment TEXT    NOT NULL,
  -- The day as five digits, then endpoint, status, platform and identity, separated by spaces. So ids sort by day.
  id          TEXT    NOT NULL,
  -- Days since 1970-01-01 UTC.
  day         INTEGER NOT NULL,
  -- The group of the endpoint: see EndpointGroup in src/terms.rs.
  endpoint    TEXT    NOT NULL,
  -- 2xx, 3xx, 4xx or 5xx.
  status      TEXT    NOT NULL,
  -- Empty if the request has none. A comma in the rows that count all other requests.
  platform    TEXT    NOT NULL,
  identity    TEXT    NOT NULL,
  requests    INTEGER NOT NULL CHECK (requests > 0),
  PRIMARY KEY (account, environment, id)
) STRICT, WITHOUT ROWID;

-- Finds the rows of past days to prune.
CREATE INDEX usage_by_day ON usage (day);

------------------------------------------------------------------------------------------------------------------------
-- Moves of an account from one database to another (`shards move`)
--
-- The command copies an account's rows while the account remains in use. Triggers log every row that changes, and the
-- command copies these rows again. Then it fences the account, copies the remaining changes and switches. While no
-- account is moving, these tables are empty and cost no reads.
------------------------------------------------------------------------------------------------------------------------

-- An account that is moving. `shards move` writes one row to each of the two databases.
CREATE TABLE account_moves (
  account     TEXT    PRIMARY KEY NOT NULL,
  -- In the source database: copying, fenced, then left after the switch. In the target database: arriving, until a
  -- request or the command finds that the account has left the source.
  step        TEXT    NOT NULL CHECK (step IN ('copying', 'fenced', 'left', 'arriving')),
  -- The shard number of the other database of the move.
  other       INTEGER NOT NULL,
  -- Writes are rejected until this time. If the command crashes, the fence expires, and changes are logged again as
  -- before the fence.
  fence_until INTEGER CHECK ((fence_until IS NULL) = (step <> 'fenced')),
  -- The target of the command's writes in the current transaction: the table that it copies, or an empty string while
  -- it deletes rows or switches. NULL outside such a transaction.
  writing     TEXT,
  -- The target database adds `event_shift` to the ids of the account's events. `event_end` is the first id after the
  -- reserved range.
  event_shift INTEGER NOT NULL DEFAULT 0,
  event_end   INTEGER NOT NULL DEFAULT 0,
  -- The progress of the copy: the table, and the primary key of the last copied row as a JSON array.
  copied      TEXT,
  copied_key  TEXT,
  began_at    INTEGER NOT NULL,
  left_at     INTEGER CHECK ((left_at IS NULL) = (step <> 'left'))
) STRICT, WITHOUT ROWID;

-- A changed row of an account that is moving: it must be copied again.
CREATE TABLE account_changes (
  seq      INTEGER PRIMARY KEY,
  account  TEXT NOT NULL,
  -- The table of the changed row.
  relation TEXT NOT NULL,
  -- The primary key of the changed row, as a JSON array.
  key      TEXT NOT NULL
) STRICT;

-- The new database of a moved account, for each secret that still contains the number of this database.
CREATE TABLE forwards (
  -- The hash or the id of a key, or the hash of a link or of an OAuth `state`.
  name    TEXT    PRIMARY KEY NOT NULL,
  account TEXT    NOT NULL,
  shard   INTEGER NOT NULL,
  -- 1 for a key, 0 for a connect attempt, which expires within minutes.
  is_key  INTEGER NOT NULL CHECK (is_key IN (0, 1))
) STRICT, WITHOUT ROWID;

-- Finds the forwards of an account to delete them.
CREATE INDEX forwards_by_account ON forwards (account);

-- Maps the event ids of an account in its earlier databases to the ids here, so that readers of the feed continue from
-- their cursor. `shift` is added to ids up to `through` that are above the previous row's `through`.
CREATE TABLE event_shifts (
  account TEXT    NOT NULL,
  through INTEGER NOT NULL,
  shift   INTEGER NOT NULL,
  PRIMARY KEY (account, through)
) STRICT, WITHOUT ROWID;

-- The accounts that background jobs must skip for now: they are fenced, or live in another database.
CREATE VIEW away (account) AS
  SELECT account FROM account_moves
  WHERE step IN ('left', 'arriving') OR fence_until > CAST(unixepoch('subsec') * 1000 AS INTEGER);

CREATE VIEW away_webhooks (id) AS
  SELECT w.id FROM away a CROSS JOIN webhooks w ON w.account = a.account;

-- Inserting into this view logs a change. While the account is fenced or has left, it rejects the change.
CREATE VIEW account_changed (account, relation, key) AS SELECT account, relation, key FROM account_changes;

CREATE TRIGGER account_change_logged INSTEAD OF INSERT ON account_changed BEGIN
  SELECT RAISE(ABORT, 'the account is being moved to another database') FROM away WHERE account = NEW.account;
  INSERT INTO account_changes (account, relation, key) VALUES (NEW.account, NEW.relation, NEW.key);
END;

-- While the command copies a table, the triggers of that table must not write to other tables, because the command
-- copies those tables, too.
CREATE TRIGGER events_ignored_in_copy BEFORE INSERT ON events
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing <> 'events') BEGIN
  SELECT RAISE(IGNORE);
END;

CREATE TRIGGER revocations_ignored_in_copy BEFORE INSERT ON revocations
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing <> 'revocations') BEGIN
  SELECT RAISE(IGNORE);
END;

CREATE TRIGGER deliveries_ignored_in_copy BEFORE INSERT ON deliveries
WHEN EXISTS (SELECT 1 FROM account_moves m CROSS JOIN webhooks w ON w.account = m.account
  WHERE m.writing <> 'deliveries' AND w.id = NEW.webhook_id) BEGIN
  SELECT RAISE(IGNORE);
END;

-- For each table with rows of an account, three triggers log all changes except those of the command itself. Every
-- table that src/operator/shards/moving/copy.rs copies needs these triggers.

CREATE TRIGGER api_keys_inserted_in_move AFTER INSERT ON api_keys
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (NEW.account, 'api_keys', json_array(NEW.hash));
END;

CREATE TRIGGER api_keys_updated_in_move AFTER UPDATE ON api_keys
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (NEW.account, 'api_keys', json_array(NEW.hash));
END;

CREATE TRIGGER api_keys_deleted_in_move AFTER DELETE ON api_keys
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = OLD.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (OLD.account, 'api_keys', json_array(OLD.hash));
END;

CREATE TRIGGER oauth_clients_inserted_in_move AFTER INSERT ON oauth_clients
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed
    VALUES (NEW.account, 'oauth_clients', json_array(NEW.environment, NEW.platform, NEW.name));
END;

CREATE TRIGGER oauth_clients_updated_in_move AFTER UPDATE ON oauth_clients
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed
    VALUES (NEW.account, 'oauth_clients', json_array(NEW.environment, NEW.platform, NEW.name));
END;

CREATE TRIGGER oauth_clients_deleted_in_move AFTER DELETE ON oauth_clients
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = OLD.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed
    VALUES (OLD.account, 'oauth_clients', json_array(OLD.environment, OLD.platform, OLD.name));
END;

CREATE TRIGGER webhooks_inserted_in_move AFTER INSERT ON webhooks
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (NEW.account, 'webhooks', json_array(NEW.environment, NEW.id));
END;

CREATE TRIGGER webhooks_updated_in_move AFTER UPDATE ON webhooks
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (NEW.account, 'webhooks', json_array(NEW.environment, NEW.id));
END;

CREATE TRIGGER webhooks_deleted_in_move AFTER DELETE ON webhooks
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = OLD.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (OLD.account, 'webhooks', json_array(OLD.environment, OLD.id));
END;

CREATE TRIGGER connections_inserted_in_move AFTER INSERT ON connections
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (NEW.account, 'connections', json_array(NEW.environment, NEW.id));
END;

CREATE TRIGGER connections_updated_in_move AFTER UPDATE ON connections
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (NEW.account, 'connections', json_array(NEW.environment, NEW.id));
END;

CREATE TRIGGER connections_deleted_in_move AFTER DELETE ON connections
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = OLD.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (OLD.account, 'connections', json_array(OLD.environment, OLD.id));
END;

CREATE TRIGGER credentials_inserted_in_move AFTER INSERT ON credentials
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (NEW.account, 'credentials', json_array(NEW.environment, NEW.connection_id));
END;

CREATE TRIGGER credentials_updated_in_move AFTER UPDATE ON credentials
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (NEW.account, 'credentials', json_array(NEW.environment, NEW.connection_id));
END;

CREATE TRIGGER credentials_deleted_in_move AFTER DELETE ON credentials
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = OLD.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (OLD.account, 'credentials', json_array(OLD.environment, OLD.connection_id));
END;

CREATE TRIGGER revocations_inserted_in_move AFTER INSERT ON revocations
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (NEW.account, 'revocations', json_array(NEW.environment, NEW.connection_id));
END;

CREATE TRIGGER revocations_updated_in_move AFTER UPDATE ON revocations
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (NEW.account, 'revocations', json_array(NEW.environment, NEW.connection_id));
END;

CREATE TRIGGER revocations_deleted_in_move AFTER DELETE ON revocations
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = OLD.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (OLD.account, 'revocations', json_array(OLD.environment, OLD.connection_id));
END;

CREATE TRIGGER connect_attempts_inserted_in_move AFTER INSERT ON connect_attempts
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (NEW.account, 'connect_attempts', json_array(NEW.id));
END;

CREATE TRIGGER connect_attempts_updated_in_move AFTER UPDATE ON connect_attempts
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (NEW.account, 'connect_attempts', json_array(NEW.id));
END;

CREATE TRIGGER connect_attempts_deleted_in_move AFTER DELETE ON connect_attempts
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = OLD.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (OLD.account, 'connect_attempts', json_array(OLD.id));
END;

CREATE TRIGGER events_inserted_in_move AFTER INSERT ON events
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (NEW.account, 'events', json_array(NEW.environment, NEW.id));
END;

CREATE TRIGGER events_updated_in_move AFTER UPDATE ON events
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (NEW.account, 'events', json_array(NEW.environment, NEW.id));
END;

CREATE TRIGGER events_deleted_in_move AFTER DELETE ON events
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = OLD.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (OLD.account, 'events', json_array(OLD.environment, OLD.id));
END;

-- A delivery belongs to the account of its webhook, so these triggers join the webhook.
CREATE TRIGGER deliveries_inserted_in_move AFTER INSERT ON deliveries
WHEN EXISTS (SELECT 1 FROM account_moves m CROSS JOIN webhooks w ON w.account = m.account
  WHERE m.writing IS NULL AND w.id = NEW.webhook_id) BEGIN
  INSERT INTO account_changed
    SELECT w.account, 'deliveries', json_array(NEW.webhook_id, NEW.event_id)
    FROM webhooks w WHERE w.id = NEW.webhook_id;
END;

CREATE TRIGGER deliveries_updated_in_move AFTER UPDATE ON deliveries
WHEN EXISTS (SELECT 1 FROM account_moves m CROSS JOIN webhooks w ON w.account = m.account
  WHERE m.writing IS NULL AND w.id = NEW.webhook_id) BEGIN
  INSERT INTO account_changed
    SELECT w.account, 'deliveries', json_array(NEW.webhook_id, NEW.event_id)
    FROM webhooks w WHERE w.id = NEW.webhook_id;
END;

CREATE TRIGGER deliveries_deleted_in_move AFTER DELETE ON deliveries
WHEN EXISTS (SELECT 1 FROM account_moves m CROSS JOIN webhooks w ON w.account = m.account
  WHERE m.writing IS NULL AND w.id = OLD.webhook_id) BEGIN
  INSERT INTO account_changed
    SELECT w.account, 'deliveries', json_array(OLD.webhook_id, OLD.event_id)
    FROM webhooks w WHERE w.id = OLD.webhook_id;
END;

CREATE TRIGGER agent_endpoints_inserted_in_move AFTER INSERT ON agent_endpoints
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (NEW.account, 'agent_endpoints', json_array(NEW.id));
END;

CREATE TRIGGER agent_endpoints_updated_in_move AFTER UPDATE ON agent_endpoints
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (NEW.account, 'agent_endpoints', json_array(NEW.id));
END;

CREATE TRIGGER agent_endpoints_deleted_in_move AFTER DELETE ON agent_endpoints
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = OLD.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (OLD.account, 'agent_endpoints', json_array(OLD.id));
END;

CREATE TRIGGER agent_grants_inserted_in_move AFTER INSERT ON agent_grants
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (NEW.account, 'agent_grants', json_array(NEW.id));
END;

CREATE TRIGGER agent_grants_updated_in_move AFTER UPDATE ON agent_grants
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (NEW.account, 'agent_grants', json_array(NEW.id));
END;

CREATE TRIGGER agent_grants_deleted_in_move AFTER DELETE ON agent_grants
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = OLD.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (OLD.account, 'agent_grants', json_array(OLD.id));
END;

CREATE TRIGGER agent_approvals_inserted_in_move AFTER INSERT ON agent_approvals
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (NEW.account, 'agent_approvals', json_array(NEW.id));
END;

CREATE TRIGGER agent_approvals_updated_in_move AFTER UPDATE ON agent_approvals
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (NEW.account, 'agent_approvals', json_array(NEW.id));
END;

CREATE TRIGGER agent_approvals_deleted_in_move AFTER DELETE ON agent_approvals
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = OLD.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (OLD.account, 'agent_approvals', json_array(OLD.id));
END;

CREATE TRIGGER console_sign_ins_inserted_in_move AFTER INSERT ON console_sign_ins
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (NEW.account, 'console_sign_ins', json_array(NEW.id));
END;

CREATE TRIGGER console_sign_ins_updated_in_move AFTER UPDATE ON console_sign_ins
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (NEW.account, 'console_sign_ins', json_array(NEW.id));
END;

CREATE TRIGGER console_sign_ins_deleted_in_move AFTER DELETE ON console_sign_ins
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = OLD.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (OLD.account, 'console_sign_ins', json_array(OLD.id));
END;

CREATE TRIGGER console_sessions_inserted_in_move AFTER INSERT ON console_sessions
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (NEW.account, 'console_sessions', json_array(NEW.id));
END;

CREATE TRIGGER console_sessions_updated_in_move AFTER UPDATE ON console_sessions
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (NEW.account, 'console_sessions', json_array(NEW.id));
END;

CREATE TRIGGER console_sessions_deleted_in_move AFTER DELETE ON console_sessions
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = OLD.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (OLD.account, 'console_sessions', json_array(OLD.id));
END;

CREATE TRIGGER branding_inserted_in_move AFTER INSERT ON branding
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (NEW.account, 'branding', json_array(NEW.environment));
END;

CREATE TRIGGER branding_updated_in_move AFTER UPDATE ON branding
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (NEW.account, 'branding', json_array(NEW.environment));
END;

CREATE TRIGGER branding_deleted_in_move AFTER DELETE ON branding
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = OLD.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (OLD.account, 'branding', json_array(OLD.environment));
END;

CREATE TRIGGER audit_inserted_in_move AFTER INSERT ON audit
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (NEW.account, 'audit', json_array(NEW.environment, NEW.id));
END;

CREATE TRIGGER audit_updated_in_move AFTER UPDATE ON audit
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (NEW.account, 'audit', json_array(NEW.environment, NEW.id));
END;

CREATE TRIGGER audit_deleted_in_move AFTER DELETE ON audit
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = OLD.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (OLD.account, 'audit', json_array(OLD.environment, OLD.id));
END;

CREATE TRIGGER usage_inserted_in_move AFTER INSERT ON usage
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (NEW.account, 'usage', json_array(NEW.environment, NEW.id));
END;

CREATE TRIGGER usage_updated_in_move AFTER UPDATE ON usage
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (NEW.account, 'usage', json_array(NEW.environment, NEW.id));
END;

CREATE TRIGGER usage_deleted_in_move AFTER DELETE ON usage
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = OLD.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (OLD.account, 'usage', json_array(OLD.environment, OLD.id));
END;

------------------------------------------------------------------------------------------------------------------------
-- Encryption keys
------------------------------------------------------------------------------------------------------------------------

-- A list of encryption keys of a running service. Every service reports its list each minute. A rotation re-encrypts
-- only with a key that all services have.
CREATE TABLE vault_key_reports (
  -- A JSON array of `<id>:<fingerprint>`; new data is encrypted with the first key. A fingerprint does not reveal its
  -- key.
  keys     TEXT    PRIMARY KEY NOT NULL CHECK (json_valid(keys)),
  -- When a service first and last reported this list.
  first_at INTEGER NOT NULL,
  last_at  INTEGER NOT NULL CHECK (last_at >= first_at)
) STRICT, WITHOUT ROWID;
