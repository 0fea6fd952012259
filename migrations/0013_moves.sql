-- Moves of an account from one database to another (`shards move`).
--
-- While all of these tables are empty, no statement reads a row of them. A Worker from before this migration knows none of
-- them: triggers note what it changes, and refuse what it may not change.

-- The account's move, in both databases. The operator's command writes it.
CREATE TABLE account_moves (
  account     TEXT    PRIMARY KEY NOT NULL,
  -- Here it is served: copying, then fenced. Here it is not: left, since it is in the other database; arriving, until a
  -- request or the command finds that it has left the other one.
  step        TEXT    NOT NULL CHECK (step IN ('copying', 'fenced', 'left', 'arriving')),
  -- The number of the other database.
  other       INTEGER NOT NULL,
  -- Until when nothing may be written, in milliseconds since 1970-01-01 UTC. Whoever fences may die: then the fence falls
  -- by itself, and what is written afterwards is noted like everything before it.
  fence_until INTEGER CHECK ((fence_until IS NULL) = (step <> 'fenced')),
  -- What the command writes in this very transaction: the name of a table, or nothing that follows from it. NULL outside.
  writing     TEXT,
  -- What is added to the ids of the account's events in the new database, and the first id that is not reserved there.
  event_shift INTEGER NOT NULL DEFAULT 0,
  event_end   INTEGER NOT NULL DEFAULT 0,
  -- How far the copy is: the table, and the key of its last row, a JSON array.
  copied      TEXT,
  copied_key  TEXT,
  began_at    INTEGER NOT NULL,
  left_at     INTEGER CHECK ((left_at IS NULL) = (step <> 'left'))
) STRICT, WITHOUT ROWID;

-- The rows that were changed since they were copied.
CREATE TABLE account_changes (
  seq      INTEGER PRIMARY KEY,
  account  TEXT NOT NULL,
  relation TEXT NOT NULL,
  -- A JSON array.
  key      TEXT NOT NULL
) STRICT;

-- Where the secrets lead that name this database, and whose account is in another one.
CREATE TABLE forwards (
  -- The hash of a key, the id of a key, or the hash of a link or a `state`.
  name    TEXT    PRIMARY KEY NOT NULL,
  account TEXT    NOT NULL,
  shard   INTEGER NOT NULL,
  -- Whether it is of a key: attempts to connect end within minutes.
  is_key  INTEGER NOT NULL CHECK (is_key IN (0, 1))
) STRICT, WITHOUT ROWID;

CREATE INDEX forwards_by_account ON forwards (account);

-- The ids of events that an account had in earlier databases: those up to `through`, and after the row before it, are
-- `shift` smaller than the ids here. So a reader of the feed goes on where it was.
CREATE TABLE event_shifts (
  account TEXT    NOT NULL,
  through INTEGER NOT NULL,
  shift   INTEGER NOT NULL,
  PRIMARY KEY (account, through)
) STRICT, WITHOUT ROWID;

-- The accounts whose work is not to be done here now.
CREATE VIEW away (account) AS
  SELECT account FROM account_moves
  WHERE step IN ('left', 'arriving') OR fence_until > CAST(unixepoch('subsec') * 1000 AS INTEGER);

CREATE VIEW away_webhooks (id) AS
  SELECT w.id FROM away a CROSS JOIN webhooks w ON w.account = a.account;

-- To insert a row of the view is to change a row of an account that is being moved.
CREATE VIEW account_changed (account, relation, key) AS SELECT account, relation, key FROM account_changes;

CREATE TRIGGER account_change_noted INSTEAD OF INSERT ON account_changed BEGIN
  SELECT RAISE(ABORT, 'the account is being moved to another database') FROM away WHERE account = NEW.account;
  INSERT INTO account_changes (account, relation, key) VALUES (NEW.account, NEW.relation, NEW.key);
END;

-- What the command copies or deletes has no consequences: they are copied too.
CREATE TRIGGER events_not_of_copies BEFORE INSERT ON events
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing <> 'events') BEGIN
  SELECT RAISE(IGNORE);
END;

CREATE TRIGGER revocations_not_of_copies BEFORE INSERT ON revocations
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing <> 'revocations') BEGIN
  SELECT RAISE(IGNORE);
END;

CREATE TRIGGER deliveries_not_of_copies BEFORE INSERT ON deliveries
WHEN EXISTS (SELECT 1 FROM account_moves m CROSS JOIN webhooks w ON w.account = m.account
  WHERE m.writing <> 'deliveries' AND w.id = NEW.webhook_id) BEGIN
  SELECT RAISE(IGNORE);
END;

DROP TRIGGER credentials_stored_check;
CREATE TRIGGER credentials_stored_check AFTER INSERT ON credentials WHEN NEW.check_at IS NULL
AND NOT EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NOT NULL) BEGIN
  UPDATE credentials SET check_at = CAST(unixepoch('subsec') * 1000 AS INTEGER) + abs(random() % 86400000)
    WHERE account = NEW.account AND environment = NEW.environment AND connection_id = NEW.connection_id;
END;

DROP TRIGGER credentials_replaced_check;
CREATE TRIGGER credentials_replaced_check AFTER UPDATE OF sealed ON credentials WHEN NEW.check_at IS NULL
AND NOT EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NOT NULL) BEGIN
  UPDATE credentials SET check_at = CAST(unixepoch('subsec') * 1000 AS INTEGER) + abs(random() % 86400000)
    WHERE account = NEW.account AND environment = NEW.environment AND connection_id = NEW.connection_id;
END;

-- Every change of a row that belongs to an account.
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
  INSERT INTO account_changed VALUES (NEW.account, 'oauth_clients', json_array(NEW.environment, NEW.platform));
END;

CREATE TRIGGER oauth_clients_updated_in_move AFTER UPDATE ON oauth_clients
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = NEW.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (NEW.account, 'oauth_clients', json_array(NEW.environment, NEW.platform));
END;

CREATE TRIGGER oauth_clients_deleted_in_move AFTER DELETE ON oauth_clients
WHEN EXISTS (SELECT 1 FROM account_moves WHERE account = OLD.account AND writing IS NULL) BEGIN
  INSERT INTO account_changed VALUES (OLD.account, 'oauth_clients', json_array(OLD.environment, OLD.platform));
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

CREATE TRIGGER deliveries_inserted_in_move AFTER INSERT ON deliveries
WHEN EXISTS (SELECT 1 FROM account_moves m CROSS JOIN webhooks w ON w.account = m.account
  WHERE m.writing IS NULL AND w.id = NEW.webhook_id) BEGIN
  INSERT INTO account_changed
    SELECT w.account, 'deliveries', json_array(NEW.webhook_id, NEW.event_id) FROM webhooks w WHERE w.id = NEW.webhook_id;
END;

CREATE TRIGGER deliveries_updated_in_move AFTER UPDATE ON deliveries
WHEN EXISTS (SELECT 1 FROM account_moves m CROSS JOIN webhooks w ON w.account = m.account
  WHERE m.writing IS NULL AND w.id = NEW.webhook_id) BEGIN
  INSERT INTO account_changed
    SELECT w.account, 'deliveries', json_array(NEW.webhook_id, NEW.event_id) FROM webhooks w WHERE w.id = NEW.webhook_id;
END;

CREATE TRIGGER deliveries_deleted_in_move AFTER DELETE ON deliveries
WHEN EXISTS (SELECT 1 FROM account_moves m CROSS JOIN webhooks w ON w.account = m.account
  WHERE m.writing IS NULL AND w.id = OLD.webhook_id) BEGIN
  INSERT INTO account_changed
    SELECT w.account, 'deliveries', json_array(OLD.webhook_id, OLD.event_id) FROM webhooks w WHERE w.id = OLD.webhook_id;
END;
