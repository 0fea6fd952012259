-- Deliveries are taken webhook by webhook, so that one receiver that does not answer does not hold up the others.
CREATE INDEX deliveries_by_webhook ON deliveries (webhook_id, due_at) WHERE due_at IS NOT NULL;
