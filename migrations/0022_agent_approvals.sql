-- Calls of agents that wait for their user: a grant can demand that its user approves each change before it is made.
--
-- A Worker from before this migration neither reads nor writes this table and this column. It can't accept an access token that
-- demands approvals, since the version of its claims is unknown to it.

-- Which calls the user is asked about: all that may change something, or those that delete; NULL for none.
ALTER TABLE agent_grants ADD COLUMN confirm TEXT CHECK (confirm IN ('write', 'destructive'));

CREATE TABLE agent_approvals (
  -- Lower-case hyphenated UUID.
  id                TEXT    PRIMARY KEY NOT NULL,
  account           TEXT    NOT NULL,
  environment       TEXT    NOT NULL,
  endpoint          TEXT    NOT NULL,
  grant_id          TEXT    NOT NULL,
  -- The key as which the agent acts.
  key_id            TEXT    NOT NULL,
  -- Whose approval it is.
  identity          TEXT    NOT NULL,
  identity_type     TEXT,
  connection_id     TEXT    NOT NULL,
  action            TEXT    NOT NULL,
  title             TEXT    NOT NULL,
  method            TEXT    NOT NULL,
  -- Nobody has decided; the user has approved and it runs; it has run; the user has declined.
  state             TEXT    NOT NULL CHECK (state IN ('pending', 'approved', 'done', 'declined')),
  -- The sealed input and, once it has run, the sealed response in its place.
  sealed            TEXT    NOT NULL,
  -- SHA-256 of the secret of `continueUrl`, with which the app sends the user to the page, once.
  secret_hash       TEXT    UNIQUE,
  secret_expires_at INTEGER,
  -- SHA-256 of the cookie of the browser in which the user has signed in.
  browser_hash      TEXT,
  -- The request that took the last step.
  claimed_by        TEXT,
  created_at        INTEGER NOT NULL,
  expires_at        INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX agent_approvals_of_grant ON agent_approvals (grant_id, expires_at);
CREATE INDEX agent_approvals_of_browser ON agent_approvals (browser_hash) WHERE browser_hash IS NOT NULL;
CREATE INDEX agent_approvals_by_age ON agent_approvals (expires_at);

CREATE TRIGGER agent_approvals_decided_event AFTER UPDATE OF state ON agent_approvals
WHEN OLD.state = 'pending' AND NEW.state IN ('approved', 'declined') BEGIN
  INSERT INTO events (account, environment, type, occurred_at, connection_id, connection, call)
  SELECT e.account, e.environment, 'call.' || NEW.state, CAST(unixepoch('subsec') * 1000 AS INTEGER), e.connection_id, e.connection,
    json_object('method', NEW.method, 'action', NEW.action, 'approval', NEW.id, 'keyId', NEW.key_id, 'identity', NEW.identity)
  FROM connection_events e
  WHERE e.account = NEW.account AND e.environment = NEW.environment AND e.connection_id = NEW.connection_id;
END;

-- Moves of the account (0013_moves.sql).
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
