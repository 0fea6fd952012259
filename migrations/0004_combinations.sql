-- Lists by any combination of platform, platformVersion, identityType and state, at the cost of a page.
--
-- There are only four identity types and four states. So one index and one counter serve every combination that has the
-- columns before them: a filter without identityType, or without state, merges the walks of four values and adds four
-- counters. Ten combinations need four indexes and four counters that way, instead of ten of each.
--
-- Each connection writes eight rows more when it is created: 8 dollars for a million connections at Cloudflare's price of
-- rows written, the price of reading 8,000 rows for each. What it saves: `platformVersion` with `identityType` read
-- 411,307 rows of a million connections for one page, and now reads 50. Prefixes (`q`) are not counted: two lengths of
-- them, of name and identity, would write four rows more for each connection, and a prefix is read as often as a counter
-- of it would be written.
--
-- The Worker of before names the indexes that it walks, and reads other counters: it goes on as it did.
CREATE INDEX connections_by_type_and_state ON connections
  (account, environment, active, identity_type, state, created_at, id);
CREATE INDEX connections_by_platform_type_and_state ON connections
  (account, environment, active, platform, identity_type, state, created_at, id);
CREATE INDEX connections_by_version_type_and_state ON connections
  (account, environment, active, platform_version, identity_type, state, created_at, id);
CREATE INDEX connections_by_platform_version_type_and_state ON connections
  (account, environment, active, platform, platform_version, identity_type, state, created_at, id);

DROP TRIGGER connections_inserted;
DROP TRIGGER connections_deleted;
DROP TRIGGER connections_before_update;
DROP TRIGGER connections_after_update;
-- Its trigger goes with it.
DROP VIEW connection_counted;

-- What each connection counts as, its tags apart: the one place that says so. `by_state`: whether its state matters.
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

-- The connections that are there, counted along the new indexes: they need no sort.
INSERT INTO connection_counts (account, environment, active, dimension, value, n)
  SELECT account, environment, active, 'identityType/state', identity_type || '/' || state, count(*)
  FROM connections INDEXED BY connections_by_type_and_state
  GROUP BY account, environment, active, identity_type, state;
INSERT INTO connection_counts (account, environment, active, dimension, value, n)
  SELECT account, environment, active, 'platform/identityType/state',
    platform || '/' || identity_type || '/' || state, count(*)
  FROM connections INDEXED BY connections_by_platform_type_and_state
  GROUP BY account, environment, active, platform, identity_type, state;
INSERT INTO connection_counts (account, environment, active, dimension, value, n)
  SELECT account, environment, active, 'platformVersion/identityType/state',
    platform_version || '/' || identity_type || '/' || state, count(*)
  FROM connections INDEXED BY connections_by_version_type_and_state
  GROUP BY account, environment, active, platform_version, identity_type, state;
INSERT INTO connection_counts (account, environment, active, dimension, value, n)
  SELECT account, environment, active, 'platform/platformVersion/identityType/state',
    platform || '/' || platform_version || '/' || identity_type || '/' || state, count(*)
  FROM connections INDEXED BY connections_by_platform_version_type_and_state
  GROUP BY account, environment, active, platform, platform_version, identity_type, state;

-- To delete a row of the view is to count one less. The last one takes the count with it.
CREATE TRIGGER connection_uncounted INSTEAD OF DELETE ON connection_counted BEGIN
  DELETE FROM connection_counts WHERE n = 1 AND account = OLD.account AND environment = OLD.environment
    AND active = OLD.active AND dimension = OLD.dimension AND value = OLD.value;
  UPDATE connection_counts SET n = n - 1 WHERE account = OLD.account AND environment = OLD.environment
    AND active = OLD.active AND dimension = OLD.dimension AND value = OLD.value;
END;

CREATE TRIGGER connections_inserted AFTER INSERT ON connections BEGIN
  INSERT INTO connection_counts (account, environment, active, dimension, value, n)
    SELECT account, environment, active, dimension, value, 1 FROM connection_counted WHERE seq = NEW.seq
    ON CONFLICT DO UPDATE SET n = n + 1;
  INSERT INTO connection_tags (account, environment, active, tag, created_at, id, seq)
    SELECT DISTINCT NEW.account, NEW.environment, NEW.active, value, NEW.created_at, NEW.id, NEW.seq
    FROM json_each(NEW.tags);
END;

CREATE TRIGGER connections_deleted BEFORE DELETE ON connections BEGIN
  DELETE FROM connection_counted WHERE seq = OLD.seq;
  DELETE FROM connection_tags
    WHERE account = OLD.account AND environment = OLD.environment AND active = OLD.active
      AND created_at = OLD.created_at AND id = OLD.id
      AND tag IN (SELECT value FROM json_each(OLD.tags));
END;

-- Another state changes only the counters that tell states apart; whatever else changes, all.
CREATE TRIGGER connections_before_update
BEFORE UPDATE OF seq, account, environment, active, platform, platform_version, identity_type, state ON connections BEGIN
  DELETE FROM connection_counted WHERE seq = OLD.seq AND (by_state
    OR (NEW.seq, NEW.account, NEW.environment, NEW.active, NEW.platform, NEW.platform_version, NEW.identity_type)
    IS NOT (OLD.seq, OLD.account, OLD.environment, OLD.active, OLD.platform, OLD.platform_version, OLD.identity_type));
END;

CREATE TRIGGER connections_after_update
AFTER UPDATE OF seq, account, environment, active, platform, platform_version, identity_type, state ON connections BEGIN
  INSERT INTO connection_counts (account, environment, active, dimension, value, n)
    SELECT account, environment, active, dimension, value, 1 FROM connection_counted WHERE seq = NEW.seq AND (by_state
      OR (NEW.seq, NEW.account, NEW.environment, NEW.active, NEW.platform, NEW.platform_version, NEW.identity_type)
      IS NOT (OLD.seq, OLD.account, OLD.environment, OLD.active, OLD.platform, OLD.platform_version, OLD.identity_type))
    ON CONFLICT DO UPDATE SET n = n + 1;
END;
