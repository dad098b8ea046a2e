-- The indexes before those have less of the same.
DROP INDEX import_job_stored;
DROP INDEX export_job_stored;
