-- API keys that API keys create (`POST /v1/keys`).
--
-- What the key is for, in its owner's words.
ALTER TABLE api_keys ADD COLUMN name TEXT;
-- The id of the key that created this one; NULL: the operator did.
ALTER TABLE api_keys ADD COLUMN created_by TEXT;

CREATE INDEX api_keys_by_creator ON api_keys (created_by) WHERE created_by IS NOT NULL;

-- No key outlives the one that created it: whoever revokes a leaked key also ends what was created with it. Here rather
-- than in the service, so that it holds for the operator's commands too. A key that is replaced and revoked at once has
-- left them to its replacement.
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
