-- Postgres took this index for look-ups by id, and read all jobs of the tenant in it (ADR 0022). Now it holds only the
-- rows that it is for.
ALTER TABLE export_job DROP CONSTRAINT export_job_tenant_id_operation_id_key;
CREATE UNIQUE INDEX export_job_tenant_id_operation_id_key ON export_job (tenant_id, operation_id)
  WHERE operation_id IS NOT NULL;

-- What the search for undos to continue reads.
CREATE INDEX import_undo_running ON import_undo (started_at) WHERE status = 'Undoing';

-- Checking the job of each failed row took as long as writing the row. They are written in the transaction that counts
-- them in their job, and a job is never deleted.
ALTER TABLE import_failed_row DROP CONSTRAINT import_failed_row_tenant_id_job_id_fkey;
