-- What the quota of jobs that run at once counts, while other starts of the tenant wait.
CREATE INDEX import_job_unfinished ON import_job (tenant_id) WHERE status = 'Executing';
CREATE INDEX export_job_unfinished ON export_job (tenant_id) WHERE status NOT IN ('Completed', 'Failed');
