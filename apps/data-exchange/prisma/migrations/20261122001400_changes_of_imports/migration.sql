-- Of what the rows of an import are, and who changed it last.
ALTER TABLE import_job
  ADD COLUMN entity_type text,
  ADD COLUMN version integer NOT NULL DEFAULT 1,
  ADD COLUMN modified_at timestamptz(3),
  ADD COLUMN modified_by text;
