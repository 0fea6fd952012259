-- Why a connection is in its state, as whoever set the state said; NULL when nobody said.
--
-- It belongs to the state: a new state without a reason has none. A Worker from before this migration neither reads nor
-- writes it; one from after it needs it only for `PUT /v1/vault/connections/{id}/state`.
ALTER TABLE connections ADD COLUMN state_reason TEXT;
