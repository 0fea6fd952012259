-- What the service does by itself: revocations that are tried again, and renewals that wait for an OAuth client.
--
-- A Worker from before this migration writes none of these columns, and what it leaves behind is due at once.

-- How often the platform was asked since the connection was deleted, and when it is asked again.
ALTER TABLE revocations ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE revocations ADD COLUMN next_attempt_at INTEGER NOT NULL DEFAULT 0;

CREATE INDEX revocations_due ON revocations (next_attempt_at);

-- Whoever mends an OAuth client finds what waits for it.
CREATE INDEX credentials_rejected ON credentials (account, environment) WHERE reason_code = 'client_rejected';
