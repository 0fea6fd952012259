-- Whose account a connection leads to, as the platform says.
--
-- An additive change: a Worker from before it neither reads nor writes these columns.

-- The account's id and its name at the platform; NULL when they are not known.
ALTER TABLE connections ADD COLUMN platform_account_id   TEXT;
ALTER TABLE connections ADD COLUMN platform_account_name TEXT;

CREATE INDEX connections_by_platform_account ON connections (account, environment, active, platform_account_id, created_at, id)
  WHERE platform_account_id IS NOT NULL;

-- What an event shows of a connection, now with the account. The trigger on the view goes with it, and comes again.
DROP VIEW connection_events;

CREATE VIEW connection_events (seq, account, environment, type, connection_id, connection, reason) AS
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
      NULL)
  FROM connections c;

CREATE TRIGGER connection_event INSTEAD OF INSERT ON connection_events BEGIN
  INSERT INTO events (account, environment, type, occurred_at, connection_id, connection, reason)
    SELECT account, environment, NEW.type, CAST(unixepoch('subsec') * 1000 AS INTEGER), connection_id, connection,
      iif(NEW.type IN ('connection.degraded', 'connection.failed'), reason, NULL)
    FROM connection_events WHERE seq = NEW.seq;
END;
