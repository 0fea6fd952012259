-- What was called, by whom and with which outcome: a JSON object, in events of the type `connection.called` only. A Worker
-- from before this migration neither reads nor writes it.
ALTER TABLE events ADD COLUMN call TEXT;
