-- A version before does not know these rows, and forgets jobs without removing them.
ALTER TABLE import_failed_part ADD FOREIGN KEY (tenant_id, job_id) REFERENCES import_job ON DELETE CASCADE;
