-- What an operator needs to care for keys.
--
-- The day of the last use, in days since 1970-01-01 UTC; NULL: never, or not since uses are written down. A Worker from
-- before this migration neither reads nor writes it.
ALTER TABLE api_keys ADD COLUMN last_used_day INTEGER;
-- The first day on which uses are written down, of a key that is older than that; NULL: the day it was made.
ALTER TABLE api_keys ADD COLUMN uses_known_from INTEGER;
-- The id of the key that was made to replace this one.
ALTER TABLE api_keys ADD COLUMN replaced_by TEXT;

UPDATE api_keys SET uses_known_from = unixepoch() / 86400;
