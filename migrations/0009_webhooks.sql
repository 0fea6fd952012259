-- Webhooks: where events are sent, and what became of it.
--
-- A trigger writes a delivery for each event and each webhook that wants it, in the transaction of the event. So whatever
-- the isolate that wrote it does next, the event is sent. A Worker from before this migration sends nothing, and what it
-- leaves is due at once.

CREATE TABLE webhooks (
  account         TEXT    NOT NULL,
  environment     TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  -- `wh_` and a UUID.
  id              TEXT    NOT NULL UNIQUE,
  url             TEXT    NOT NULL,
  description     TEXT,
  -- A JSON array of texts: the types of events that are sent; empty for all.
  types           TEXT    NOT NULL CHECK (json_type(types) = 'array'),
  active          INTEGER NOT NULL CHECK (active IN (0, 1)),
  -- The sealed secrets (`src/webhooks/secret.rs`), and the id of the key that seals them.
  sealed          TEXT    NOT NULL,
  sealed_key      TEXT    GENERATED ALWAYS AS (substr(sealed, 1, instr(sealed, '.') - 1)) VIRTUAL,
  -- When the first delivery failed since the last good one; NULL when none has.
  failing_since   INTEGER,
  -- Why the service has disabled it; NULL when it has not.
  disabled_code   TEXT,
  disabled_status INTEGER,
  -- Milliseconds since 1970-01-01 UTC.
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL,
  -- The request that wrote it last: tells a repeated write that it has happened already.
  written_by      TEXT    NOT NULL,
  PRIMARY KEY (account, environment, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX webhooks_by_sealed_key ON webhooks (sealed_key);

CREATE TABLE deliveries (
  webhook_id      TEXT    NOT NULL,
  event_id        INTEGER NOT NULL,
  state           TEXT    NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed')),
  attempts        INTEGER NOT NULL DEFAULT 0,
  -- Milliseconds since 1970-01-01 UTC; 0 for at once, NULL when it is over.
  next_attempt_at INTEGER DEFAULT 0,
  -- The last attempt: when it was, the status of the answer or why there was none, and how long it took.
  attempted_at    INTEGER,
  status          INTEGER,
  error           TEXT,
  duration_ms     INTEGER,
  -- Who attempts it now, and until when nobody else does.
  lease           TEXT,
  lease_until     INTEGER,
  due_at          INTEGER GENERATED ALWAYS AS (coalesce(lease_until, next_attempt_at)) VIRTUAL,
  PRIMARY KEY (webhook_id, event_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX deliveries_by_due ON deliveries (due_at) WHERE due_at IS NOT NULL;

CREATE TRIGGER events_deliveries AFTER INSERT ON events BEGIN
  INSERT INTO deliveries (webhook_id, event_id)
    SELECT w.id, NEW.id FROM webhooks w
    WHERE w.account = NEW.account AND w.environment = NEW.environment AND w.active = 1
      AND (w.types = '[]' OR EXISTS (SELECT 1 FROM json_each(w.types) WHERE value = NEW.type));
END;

-- What is pruned is not sent any more.
CREATE TRIGGER events_pruned_deliveries AFTER DELETE ON events BEGIN
  DELETE FROM deliveries WHERE event_id = OLD.id AND webhook_id IN (
    SELECT id FROM webhooks WHERE account = OLD.account AND environment = OLD.environment);
END;

CREATE TRIGGER webhooks_deleted_deliveries AFTER DELETE ON webhooks BEGIN
  DELETE FROM deliveries WHERE webhook_id = OLD.id;
END;

-- Whoever enables it again says from which event on it is to be sent what it missed.
CREATE TRIGGER webhooks_inactive_deliveries AFTER UPDATE OF active ON webhooks WHEN OLD.active = 1 AND NEW.active = 0 BEGIN
  UPDATE deliveries SET state = 'failed', error = coalesce(error, 'webhook_inactive'), next_attempt_at = NULL,
      lease = NULL, lease_until = NULL
    WHERE webhook_id = NEW.id AND state = 'pending';
  INSERT INTO events (account, environment, type, occurred_at, subject, reason)
    SELECT NEW.account, NEW.environment, 'webhook.disabled', CAST(unixepoch('subsec') * 1000 AS INTEGER),
      json_object('webhook', json_object('id', NEW.id)),
      json_object('code', NEW.disabled_code, 'detail', NULL, 'httpStatus', NEW.disabled_status)
    WHERE NEW.disabled_code IS NOT NULL;
END;
