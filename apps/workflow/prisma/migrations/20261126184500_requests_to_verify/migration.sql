-- plinth: no transaction
-- Requests about which owners are to be asked are found without those that wait only for time or for people.
CREATE INDEX CONCURRENTLY approval_to_verify ON approval (tenant_id, verify_at, id)
  WHERE "end" IS NULL AND verify_at IS NOT NULL;
