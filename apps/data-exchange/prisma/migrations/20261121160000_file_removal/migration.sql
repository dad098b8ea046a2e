SET lock_timeout = '2s';

-- When the file of a job was removed for good.
ALTER TABLE import_job ADD COLUMN file_removed_at timestamptz(3);
ALTER TABLE export_job ADD COLUMN file_removed_at timestamptz(3);
CREATE INDEX import_job_file ON import_job (created_at) WHERE file_removed_at IS NULL;
CREATE INDEX export_job_file ON export_job (created_at) WHERE file_removed_at IS NULL;
