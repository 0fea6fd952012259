-- OAuth clients: whether authorization requests use PKCE, in place of what the catalog says.
--
-- An additive change: a Worker from before it neither reads nor writes the column, and does as the catalog says.

-- 'S256' or 'none'; NULL for what the catalog says.
ALTER TABLE oauth_clients ADD COLUMN pkce TEXT;
