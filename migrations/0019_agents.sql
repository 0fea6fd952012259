-- Sign-in for agents (MCP authorization): the MCP address of each account and environment, and what users granted there.
--
-- A Worker from before this migration neither reads nor writes these tables.
CREATE TABLE agent_endpoints (
  -- The last segment of `/mcp/{endpointId}`, random. It stays when sign-in is switched off and on again, since users have it in
  -- the configuration of their agents.
  id             TEXT    PRIMARY KEY NOT NULL,
  account        TEXT    NOT NULL,
  environment    TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  -- Who authenticates users: an OpenID provider, or the account's own app. NULL while sign-in is switched off.
  type           TEXT    CHECK (type IN ('oidc', 'app')),
  -- The id of the key that configured it: what users grant at an OpenID provider ends with this key.
  key_id         TEXT    NOT NULL,
  -- Of an OpenID provider.
  issuer         TEXT    CHECK ((issuer IS NULL) = (type IS NOT 'oidc')),
  client_id      TEXT    CHECK ((client_id IS NULL) = (type IS NOT 'oidc')),
  sealed         TEXT,
  sealed_key     TEXT    GENERATED ALWAYS AS (substr(sealed, 1, instr(sealed, '.') - 1)) VIRTUAL,
  identity_claim TEXT,
  identity_type  TEXT,
  -- Of an app.
  url            TEXT    CHECK ((url IS NULL) = (type IS NOT 'app')),
  created_at     INTEGER NOT NULL,
  updated_at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX agent_endpoints_by_account ON agent_endpoints (account, environment);
CREATE INDEX agent_endpoints_by_sealed_key ON agent_endpoints (sealed_key) WHERE sealed IS NOT NULL;

CREATE TABLE agent_grants (
  -- Lower-case hyphenated UUID.
  id            TEXT    PRIMARY KEY NOT NULL,
  account       TEXT    NOT NULL,
  environment   TEXT    NOT NULL,
  endpoint      TEXT    NOT NULL,
  -- The id of the key as which the agent acts, with at most its scopes, as long as it is valid.
  key_id        TEXT    NOT NULL,
  -- The app has authenticated the user; the user was shown the consent page; the user has agreed and the code is not
  -- exchanged; the agent has tokens.
  state         TEXT    NOT NULL CHECK (state IN ('authenticated', 'opened', 'consented', 'active')),
  identity      TEXT    NOT NULL,
  identity_type TEXT,
  -- Names between commas; NULL for all platforms.
  platforms     TEXT,
  access        TEXT    NOT NULL CHECK (access IN ('read', 'write')),
  -- `platform/key` or `platform/prefix*` between commas; NULL for all actions.
  actions       TEXT,
  -- Ids between commas; NULL for all connections of the identity.
  connections   TEXT,
  -- SHA-256 of the client's id, and the id if it is the URL of a metadata document.
  client_hash   TEXT    NOT NULL,
  client_url    TEXT,
  client_name   TEXT,
  redirect_uri  TEXT    NOT NULL,
  -- The `state` of the client's request; NULL once it was sent back.
  client_state  TEXT,
  challenge     TEXT    NOT NULL,
  -- SHA-256 of the cookie that the browser got at the authorization endpoint.
  browser_hash  TEXT    NOT NULL,
  -- SHA-256 of the secret of `continueUrl`, then of the code.
  secret_hash   TEXT    NOT NULL UNIQUE,
  -- The request that opened the consent page, agreed or exchanged the code: each is possible once.
  claimed_by    TEXT,
  -- The newest refresh token that was used, and when it was used first.
  generation    INTEGER NOT NULL DEFAULT 0,
  rotated_at    INTEGER NOT NULL DEFAULT 0,
  created_at    INTEGER NOT NULL,
  last_used_at  INTEGER,
  expires_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX agent_grants_listed ON agent_grants (account, environment, created_at DESC, id DESC) WHERE state = 'active';
CREATE INDEX agent_grants_of_identity ON agent_grants (account, environment, identity, created_at DESC, id DESC) WHERE state = 'active';
CREATE INDEX agent_grants_by_age ON agent_grants (expires_at);

-- Moves of the account (0013_moves.sql).
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
