-- plinth: no transaction
-- When the oldest stored export of a tenant was asked for is read from the begin of an index.
CREATE INDEX CONCURRENTLY export_job_stored_since ON export_job (tenant_id, created_at)
  WHERE file_removed_at IS NULL AND file_size_bytes IS NOT NULL;
