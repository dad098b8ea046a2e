-- How many rows with duplicate keys are stored of a job while it executes: counting them would take longer than a request may.
ALTER TABLE import_job ADD COLUMN duplicate_rows integer NOT NULL DEFAULT 0;
