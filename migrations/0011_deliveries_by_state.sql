-- Deliveries of a webhook by their state: whoever looks for failed ones reads only those. A Worker from before this
-- migration does not ask for them.
CREATE INDEX deliveries_by_state ON deliveries (webhook_id, state, event_id);
