-- The audit: who changed API keys, OAuth clients, webhooks, the sign-in for agents, grants and connections, and who read
-- credentials.
--
-- Triggers write the entries of changes, in the transaction of the change: no Worker and no command can forget one. Who made the
-- change is in `audit_context`, which a batch fills first and empties last; a change without it is one that the service made by
-- itself. Entries hold ids and names of actions only, never a value that was written.
--
-- An additive change: a Worker from before it neither reads nor writes these tables, and what it changes has no actor.

CREATE TABLE audit (
  -- The order in which entries were written to this database, by which the oldest are found. It is not copied when an account moves.
  seq         INTEGER PRIMARY KEY,
  account     TEXT    NOT NULL,
  environment TEXT    NOT NULL,
  -- `aud_` and hexadecimal digits: 11 of the time, 6 of the order of writing, 8 of the request. So ids are in the order of time.
  id          TEXT    NOT NULL CHECK (length(id) = 29),
  -- Milliseconds since 1970-01-01 UTC.
  at          INTEGER NOT NULL,
  action      TEXT    NOT NULL,
  actor_type  TEXT    NOT NULL CHECK (actor_type IN ('key', 'token', 'person', 'grant', 'operator', 'service')),
  -- The id of the key, the identity of the token or the person, the id of the agent's grant; NULL for the others.
  actor       TEXT    CHECK ((actor IS NULL) = (actor_type IN ('operator', 'service'))),
  -- The id of the key by which the actor acts; NULL for the operator and the service.
  key_id      TEXT,
  target_type TEXT    NOT NULL,
  target      TEXT    NOT NULL,
  -- NULL when no request made the change.
  request_id  TEXT,
  -- How often: more than 1 for reads of credentials only.
  count       INTEGER NOT NULL DEFAULT 1
) STRICT;

CREATE UNIQUE INDEX audit_listed ON audit (account, environment, id);
CREATE INDEX audit_by_target ON audit (account, environment, target, id);
CREATE INDEX audit_by_actor ON audit (account, environment, actor, id) WHERE actor IS NOT NULL;

-- Who makes the changes of the batch that runs. Empty outside a batch.
CREATE TABLE audit_context (
  one        INTEGER PRIMARY KEY CHECK (one = 1),
  at         INTEGER NOT NULL,
  actor_type TEXT    NOT NULL,
  actor      TEXT,
  key_id     TEXT,
  request_id TEXT
) STRICT;

-- To insert a row of the view is to write an entry. What is copied when an account moves has none, and a request has one for
-- each target: a batch whose answer was lost may run twice.
CREATE VIEW audited (account, environment, action, target_type, target) AS
  SELECT account, environment, action, target_type, target FROM audit;

CREATE TRIGGER audit_entry INSTEAD OF INSERT ON audited
WHEN NOT EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NOT NULL) BEGIN
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

CREATE TRIGGER api_keys_revoked_audit AFTER UPDATE OF revoked_at ON api_keys
WHEN NEW.revoked_at IS NOT NULL AND OLD.revoked_at IS NULL AND NEW.replaced_by IS OLD.replaced_by BEGIN
  INSERT INTO audited VALUES (NEW.account, NEW.environment, 'key.revoked', 'key', NEW.id);
END;

CREATE TRIGGER oauth_clients_inserted_audit AFTER INSERT ON oauth_clients BEGIN
  INSERT INTO audited VALUES (NEW.account, NEW.environment, 'oauth_client.created', 'oauth_client', NEW.platform);
END;

-- Whoever replaces a client names its id; what the service notes about it does not, and neither does encrypting it again.
CREATE TRIGGER oauth_clients_updated_audit AFTER UPDATE OF client_id ON oauth_clients
WHEN (NEW.auth_method, NEW.client_id, NEW.sealed, NEW.scopes, NEW.authorization_parameters, NEW.variables, NEW.start_url, NEW.pkce, NEW.updated_at)
  IS NOT (OLD.auth_method, OLD.client_id, OLD.sealed, OLD.scopes, OLD.authorization_parameters, OLD.variables, OLD.start_url, OLD.pkce, OLD.updated_at) BEGIN
  INSERT INTO audited VALUES (NEW.account, NEW.environment, 'oauth_client.updated', 'oauth_client', NEW.platform);
END;

CREATE TRIGGER oauth_clients_deleted_audit AFTER DELETE ON oauth_clients BEGIN
  INSERT INTO audited VALUES (OLD.account, OLD.environment, 'oauth_client.deleted', 'oauth_client', OLD.platform);
END;

CREATE TRIGGER webhooks_inserted_audit AFTER INSERT ON webhooks BEGIN
  INSERT INTO audited VALUES (NEW.account, NEW.environment, 'webhook.created', 'webhook', NEW.id);
END;

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

CREATE TRIGGER agent_endpoints_updated_audit AFTER UPDATE OF type ON agent_endpoints
WHEN (NEW.type, NEW.key_id, NEW.issuer, NEW.client_id, NEW.sealed, NEW.identity_claim, NEW.identity_type, NEW.url, NEW.updated_at)
  IS NOT (OLD.type, OLD.key_id, OLD.issuer, OLD.client_id, OLD.sealed, OLD.identity_claim, OLD.identity_type, OLD.url, OLD.updated_at) BEGIN
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

-- What has expired ended before it is deleted.
CREATE TRIGGER agent_grants_deleted_audit AFTER DELETE ON agent_grants
WHEN OLD.expires_at > coalesce((SELECT at FROM audit_context), CAST(unixepoch('subsec') * 1000 AS INTEGER)) BEGIN
  INSERT INTO audited VALUES (OLD.account, OLD.environment,
    iif(OLD.state IN ('consented', 'active'), 'agent_grant.revoked', 'agent_grant.declined'), 'agent_grant', OLD.id);
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

-- Moves of the account (0013_moves.sql).
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
