-- Each upload and export asks how much its tenant has stored: it read the stored files of all tenants, or all jobs of the
-- tenant (ADR 0022).
CREATE INDEX import_job_stored ON import_job (tenant_id) WHERE file_removed_at IS NULL;
CREATE INDEX export_job_stored ON export_job (tenant_id) WHERE file_removed_at IS NULL;
-- What is removed every minute: those that ended long enough ago. Exports are never looked for by their age.
CREATE INDEX import_job_ended ON import_job (completed_at) WHERE file_removed_at IS NULL;
CREATE INDEX export_job_ended ON export_job (completed_at) WHERE file_removed_at IS NULL;
DROP INDEX export_job_file;
-- Where statistics know a tenant with most of the jobs, the files of all tenants look as few to Postgres as its own.
ALTER TABLE import_job ALTER COLUMN tenant_id SET STATISTICS 0;
ALTER TABLE export_job ALTER COLUMN tenant_id SET STATISTICS 0;
