-- Events, and the schedule on which credentials are renewed and checked.
--
-- Triggers write the events, in the transaction of the change: no Worker can forget one, not even one from before this
-- migration. Nothing here needs the Worker to know of it, except that it names the request that connects.

-- The request that connected the account last; NULL when none has since this migration. It tells a connection that is
-- connected from one that only changes its state.
ALTER TABLE connections ADD COLUMN connected_by TEXT;

-- What happened, in the order in which it happened. `id` grows with every event: D1 writes one transaction at a time. The
-- last event is never pruned, so that no id is given twice.
CREATE TABLE events (
  id            INTEGER PRIMARY KEY,
  account       TEXT    NOT NULL,
  environment   TEXT    NOT NULL,
  type          TEXT    NOT NULL,
  -- Milliseconds since 1970-01-01 UTC.
  occurred_at   INTEGER NOT NULL,
  -- The connection that it is about, and its row as a JSON object; NULL when it is about something else.
  connection_id TEXT,
  connection    TEXT,
  -- What it is about when it is not about a connection: a JSON object with one member.
  subject       TEXT,
  -- Why it happened: a JSON object; NULL when there is no reason to be told.
  reason        TEXT,
  CHECK ((connection IS NULL) = (subject IS NOT NULL))
) STRICT;

CREATE INDEX events_by_tenant     ON events (account, environment, id);
CREATE INDEX events_by_connection ON events (account, environment, connection_id, id) WHERE connection_id IS NOT NULL;

-- What an event shows of a connection: the one place that says so.
CREATE VIEW connection_events (seq, account, environment, type, connection_id, connection, reason) AS
  SELECT c.seq, c.account, c.environment, '', c.id,
    json_object('id', c.id, 'platform_version', c.platform_version, 'name', c.name, 'environment', c.environment,
      'platform', c.platform, 'label', c.label, 'identity', c.identity, 'identity_type', c.identity_type,
      'description', c.description, 'state', c.state, 'tags', c.tags, 'version', c.version, 'active', c.active,
      'created_at', c.created_at, 'written_by', c.written_by),
    iif(c.state IN ('degraded', 'failed'),
      (SELECT json_object('code', h.reason_code, 'detail', h.reason_detail, 'httpStatus', h.reason_status)
        FROM credentials h
        WHERE h.account = c.account AND h.environment = c.environment AND h.connection_id = c.id
          AND h.reason_code IS NOT NULL
        UNION ALL
        SELECT json_object('code', 'reported', 'detail', c.state_reason, 'httpStatus', NULL)
        WHERE c.state_reason IS NOT NULL
        LIMIT 1),
      NULL)
  FROM connections c;

-- To insert a row of the view is to write an event about the connection with this `seq`.
CREATE TRIGGER connection_event INSTEAD OF INSERT ON connection_events BEGIN
  INSERT INTO events (account, environment, type, occurred_at, connection_id, connection, reason)
    SELECT account, environment, NEW.type, CAST(unixepoch('subsec') * 1000 AS INTEGER), connection_id, connection,
      iif(NEW.type IN ('connection.degraded', 'connection.failed'), reason, NULL)
    FROM connection_events WHERE seq = NEW.seq;
END;

CREATE TRIGGER connections_created_event AFTER INSERT ON connections BEGIN
  INSERT INTO connection_events (seq, type) VALUES (NEW.seq, 'connection.created');
  INSERT INTO connection_events (seq, type) SELECT NEW.seq, 'connection.connected' WHERE NEW.connected_by IS NOT NULL;
END;

CREATE TRIGGER connections_updated_event AFTER UPDATE ON connections WHEN NEW.version <> OLD.version BEGIN
  INSERT INTO connection_events (seq, type) SELECT NEW.seq, 'connection.' || CASE
    WHEN NEW.connected_by IS NOT OLD.connected_by THEN iif(
      EXISTS (SELECT 1 FROM credentials h
        WHERE h.account = NEW.account AND h.environment = NEW.environment AND h.connection_id = NEW.id),
      'reconnected', 'connected')
    WHEN NEW.state <> OLD.state AND NEW.state IN ('degraded', 'failed') THEN NEW.state
    WHEN NEW.state = 'operational' AND OLD.state IN ('degraded', 'failed') THEN 'recovered'
    ELSE 'updated'
  END;
END;

-- Before: the event shows what is deleted.
CREATE TRIGGER connections_deleted_event BEFORE DELETE ON connections BEGIN
  INSERT INTO connection_events (seq, type) VALUES (OLD.seq, 'connection.deleted');
END;

-- The same scopes in another order are the same scopes.
CREATE TRIGGER credentials_scopes_event AFTER UPDATE OF scopes ON credentials WHEN NEW.scopes <> OLD.scopes BEGIN
  INSERT INTO connection_events (seq, type)
    SELECT c.seq, 'connection.scopes_changed' FROM connections c
    WHERE c.account = NEW.account AND c.environment = NEW.environment AND c.id = NEW.connection_id AND EXISTS (
      SELECT 1 FROM (SELECT value FROM json_each(NEW.scopes) EXCEPT SELECT value FROM json_each(OLD.scopes))
      UNION ALL
      SELECT 1 FROM (SELECT value FROM json_each(OLD.scopes) EXCEPT SELECT value FROM json_each(NEW.scopes)));
END;

-- The breaker: since when a platform has rejected the OAuth client, and when it may be tried again. NULL while the client
-- is accepted.
ALTER TABLE oauth_clients ADD COLUMN rejected_since INTEGER;
ALTER TABLE oauth_clients ADD COLUMN probe_at INTEGER;

CREATE TRIGGER oauth_clients_rejected_event AFTER UPDATE OF rejected_since ON oauth_clients
WHEN OLD.rejected_since IS NULL AND NEW.rejected_since IS NOT NULL BEGIN
  INSERT INTO events (account, environment, type, occurred_at, subject, reason) VALUES (
    NEW.account, NEW.environment, 'oauth_client.rejected', CAST(unixepoch('subsec') * 1000 AS INTEGER),
    json_object('oauthClient', json_object('platform', NEW.platform, 'clientId', NEW.client_id)),
    json_object('code', 'client_rejected', 'detail', NULL, 'httpStatus', NULL));
END;

-- When credentials are checked next, although nobody uses them; NULL when they are not, since the connection has failed.
ALTER TABLE credentials ADD COLUMN check_at INTEGER;
-- Until when nobody else takes what is due, because it was handed to somebody. Whoever did the work resets it. When that one
-- dies, it is due again at this time.
ALTER TABLE credentials ADD COLUMN handed_until INTEGER;
ALTER TABLE credentials ADD COLUMN due_at INTEGER
  GENERATED ALWAYS AS (coalesce(handed_until, next_attempt_at, check_at)) VIRTUAL;

UPDATE credentials SET check_at = CAST(unixepoch('subsec') * 1000 AS INTEGER) + abs(random() % 86400000)
  WHERE NOT EXISTS (SELECT 1 FROM connections c WHERE c.account = credentials.account
    AND c.environment = credentials.environment AND c.id = credentials.connection_id AND c.state = 'failed');

CREATE INDEX credentials_by_due ON credentials (due_at) WHERE due_at IS NOT NULL;

-- New credentials are checked for the first time at some moment of the next day, so that what comes together is not checked
-- together. Also when they take the place of those of a connection that had failed, and whatever Worker stores them.
CREATE TRIGGER credentials_stored_check AFTER INSERT ON credentials WHEN NEW.check_at IS NULL BEGIN
  UPDATE credentials SET check_at = CAST(unixepoch('subsec') * 1000 AS INTEGER) + abs(random() % 86400000)
    WHERE account = NEW.account AND environment = NEW.environment AND connection_id = NEW.connection_id;
END;

CREATE TRIGGER credentials_replaced_check AFTER UPDATE OF sealed ON credentials WHEN NEW.check_at IS NULL BEGIN
  UPDATE credentials SET check_at = CAST(unixepoch('subsec') * 1000 AS INTEGER) + abs(random() % 86400000)
    WHERE account = NEW.account AND environment = NEW.environment AND connection_id = NEW.connection_id;
END;
