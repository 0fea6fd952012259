-- The vault: connections, their tags, and how many there are of what.
--
-- `active` comes before every other column of an index because a list always asks for one of its two values; `created_at`
-- and `id` come last because every list is ordered by them. A page is then a walk along an index from its place on.
-- Only what is found by its name is sorted.
--
-- Triggers keep the tag rows and the counts, whatever inserts, updates or deletes connections. What SQLite keeps from
-- triggers they can't see: write no OR REPLACE, OR IGNORE or OR FAIL on an update, and no OR REPLACE on an insert.
CREATE TABLE connections (
  seq              INTEGER PRIMARY KEY,
  -- Lower-case hyphenated UUID.
  id               TEXT    NOT NULL CHECK (length(id) = 36),
  account          TEXT    NOT NULL,
  environment      TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  active           INTEGER NOT NULL CHECK (active IN (0, 1)),
  platform         TEXT    NOT NULL,
  platform_version TEXT    NOT NULL,
  label            TEXT    NOT NULL,
  identity         TEXT    NOT NULL,
  -- The identity folded (src/fold.rs): prefix search ignores case, the filter does not.
  identity_folded  TEXT    NOT NULL,
  identity_type    TEXT    NOT NULL CHECK (identity_type IN ('user', 'team', 'organization', 'project')),
  name             TEXT,
  name_folded      TEXT    CHECK ((name IS NULL) = (name_folded IS NULL)),
  -- With how many of the same characters name and identity begin, 7 for more: prefix search finds a connection by its
  -- identity if it can, and needs not even look at its name.
  name_overlap     INTEGER GENERATED ALWAYS AS (
    (substr(name_folded, 1, 1) = substr(identity_folded, 1, 1)) + (substr(name_folded, 1, 2) = substr(identity_folded, 1, 2)) +
    (substr(name_folded, 1, 3) = substr(identity_folded, 1, 3)) + (substr(name_folded, 1, 4) = substr(identity_folded, 1, 4)) +
    (substr(name_folded, 1, 5) = substr(identity_folded, 1, 5)) + (substr(name_folded, 1, 6) = substr(identity_folded, 1, 6)) +
    (substr(name_folded, 1, 7) = substr(identity_folded, 1, 7))) VIRTUAL,
  description      TEXT    NOT NULL,
  state            TEXT    NOT NULL CHECK (state IN ('operational', 'degraded', 'failed', 'unknown')),
  -- A JSON array of texts, exactly as sent.
  tags             TEXT    NOT NULL CHECK (json_type(tags) = 'array'),
  -- 1 when created, one more with every change.
  version          INTEGER NOT NULL CHECK (version >= 1),
  -- Milliseconds since 1970-01-01 UTC.
  created_at       INTEGER NOT NULL,
  -- The request that wrote this version: tells a repeated write that it has happened already.
  written_by       TEXT    NOT NULL
) STRICT;

-- With the tenant in front, an id of another tenant costs exactly what an unknown one costs.
CREATE UNIQUE INDEX connections_by_id  ON connections (account, environment, id);
-- The connection key, in parts.
CREATE UNIQUE INDEX connections_by_key ON connections (account, environment, platform, label, identity);

CREATE INDEX connections_by_age                        ON connections (account, environment, active, created_at, id);
CREATE INDEX connections_by_platform                   ON connections (account, environment, active, platform, created_at, id);
CREATE INDEX connections_by_platform_version           ON connections (account, environment, active, platform_version, created_at, id);
CREATE INDEX connections_by_platform_and_version       ON connections (account, environment, active, platform, platform_version, created_at, id);
CREATE INDEX connections_by_identity_type              ON connections (account, environment, active, identity_type, created_at, id);
CREATE INDEX connections_by_platform_and_identity_type ON connections (account, environment, active, platform, identity_type, created_at, id);
CREATE INDEX connections_by_identity                   ON connections (account, environment, active, identity_folded, identity, created_at, id);
CREATE INDEX connections_by_name                       ON connections (account, environment, active, name_overlap, name_folded, created_at, id)
  WHERE name_folded IS NOT NULL;

-- The different tags of each connection, in list order under every tag.
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

-- How many connections there are: a count costs one row instead of all that it counts. There is no row for none.
CREATE TABLE connection_counts (
  account     TEXT    NOT NULL,
  environment TEXT    NOT NULL,
  -- 0 or 1; 2 for both together.
  active      INTEGER NOT NULL,
  -- all, platform, platformVersion, platform/platformVersion, identityType, platform/identityType, state, tag
  dimension   TEXT    NOT NULL,
  value       TEXT    NOT NULL,
  n           INTEGER NOT NULL CHECK (n > 0),
  PRIMARY KEY (account, environment, active, dimension, value)
) STRICT, WITHOUT ROWID;

-- The largest platforms of a tenant.
CREATE INDEX connection_counts_by_size ON connection_counts (account, environment, n DESC, value)
  WHERE active = 2 AND dimension = 'platform';

-- What each connection counts as, its tags apart: the one place that says so.
CREATE VIEW connection_counted (seq, account, environment, active, dimension, value) AS
  SELECT c.seq, c.account, c.environment, iif(d.both, 2, c.active), d.dimension,
    CASE d.dimension
      WHEN 'all'                      THEN ''
      WHEN 'platform'                 THEN c.platform
      WHEN 'platformVersion'          THEN c.platform_version
      WHEN 'platform/platformVersion' THEN c.platform || '/' || c.platform_version
      WHEN 'identityType'             THEN c.identity_type
      WHEN 'platform/identityType'    THEN c.platform || '/' || c.identity_type
      WHEN 'state'                    THEN c.state
    END
  FROM connections c CROSS JOIN (
    SELECT column1 AS both, column2 AS dimension FROM (VALUES
      (0, 'all'), (0, 'platform'), (0, 'platformVersion'), (0, 'platform/platformVersion'), (0, 'identityType'),
      (0, 'platform/identityType'), (1, 'platform'), (1, 'state'))) d;

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

CREATE TRIGGER connections_before_update
BEFORE UPDATE OF seq, account, environment, active, platform, platform_version, identity_type, state ON connections BEGIN
  DELETE FROM connection_counted WHERE seq = OLD.seq;
END;

CREATE TRIGGER connections_after_update
AFTER UPDATE OF seq, account, environment, active, platform, platform_version, identity_type, state ON connections BEGIN
  INSERT INTO connection_counts (account, environment, active, dimension, value, n)
    SELECT account, environment, active, dimension, value, 1 FROM connection_counted WHERE seq = NEW.seq
    ON CONFLICT DO UPDATE SET n = n + 1;
END;

-- Only the tags that differ are touched.
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
