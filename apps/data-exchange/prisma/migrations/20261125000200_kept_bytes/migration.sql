-- What the quota of a tenant counts of the failed rows of an import.
ALTER TABLE import_job ADD COLUMN failed_bytes bigint NOT NULL DEFAULT 0;
CREATE INDEX import_job_kept ON import_job (tenant_id) WHERE rows_removed_at IS NULL;
