-- plinth: no transaction
-- Its condition keeps it away from look-ups of batches, for which it would be read where statistics know no tenant.
CREATE INDEX CONCURRENTLY exchange_batch_kept ON exchange_batch (tenant_id) INCLUDE (kept_bytes) WHERE kept_bytes > 0;
