-- OAuth clients: whom an error was about that may not be the client's, and where to start.
--
-- An additive change: a Worker from before it neither reads nor writes these columns.

-- The last error of a renewal that may be of the client or of one account at the platform only, and a hash of that account
-- (SHA-256, lower-case hexadecimal). NULL after a renewal that succeeded.
ALTER TABLE oauth_clients ADD COLUMN suspect_error TEXT;
ALTER TABLE oauth_clients ADD COLUMN suspect_account TEXT;

-- Where a visit that began at the platform goes on: an https URL of the app.
ALTER TABLE oauth_clients ADD COLUMN start_url TEXT;

CREATE INDEX oauth_clients_with_start ON oauth_clients (account, platform, start_url) WHERE start_url IS NOT NULL;
