-- The progress of an export tells its rows from the end of its file.
ALTER TABLE export_job ADD COLUMN phase text;
