SET lock_timeout = '2s';

-- The file of the job holds rows that only callers with this permission see.
ALTER TABLE export_job ADD COLUMN wider_permission text;
