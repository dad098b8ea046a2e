-- Each upload asks for the last imports with failed rows of its definition, and read all imports of the tenant for it
-- (ADR 0022).
CREATE INDEX import_job_with_failed_rows ON import_job (tenant_id, definition_name, created_at) WHERE failed_rows > 0;
