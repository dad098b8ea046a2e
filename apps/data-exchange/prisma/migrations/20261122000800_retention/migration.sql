-- When the failed rows of an import, and the rows that its undo kept, were removed for good.
ALTER TABLE import_job ADD COLUMN rows_removed_at timestamptz(3);
CREATE INDEX import_job_rows ON import_job (completed_at) WHERE rows_removed_at IS NULL;
