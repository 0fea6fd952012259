-- The list of attempts to connect, newest first: by status, and of one identity. Every attempt gets as much time, so the
-- order of their expiry is that in which they began. A Worker from before this migration does not ask for the list.
CREATE INDEX connect_attempts_by_status ON connect_attempts (account, environment, status, expires_at, id);
CREATE INDEX connect_attempts_of_identity ON connect_attempts (account, environment, identity, expires_at, id);
