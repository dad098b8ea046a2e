-- Which permission beside that of its definition the content of an upload needs.
ALTER TABLE import_job ADD COLUMN wider_permission text;
