-- The newest jobs of all tenants, for operators.
CREATE INDEX import_job_newest ON import_job (created_at, id);
CREATE INDEX export_job_newest ON export_job (created_at, id);
CREATE INDEX import_undo_newest ON import_undo (requested_at, job_id);
