-- plinth: no transaction
-- When the oldest stored upload of a tenant came is read from the begin of an index.
CREATE INDEX CONCURRENTLY import_job_stored_since ON import_job (tenant_id, created_at) WHERE file_removed_at IS NULL;
