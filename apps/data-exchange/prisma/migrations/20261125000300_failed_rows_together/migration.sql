-- Failed rows that were counted together: JSON, a line for each row. As rows of a table they took Postgres seven times as
-- long. Those of imports that ran before stay in import_failed_row until they are removed.
CREATE TABLE import_failed_part (
  tenant_id uuid NOT NULL,
  job_id uuid NOT NULL,
  last_row integer NOT NULL,
  row_count integer NOT NULL,
  details text NOT NULL,
  cells text NOT NULL,
  PRIMARY KEY (tenant_id, job_id, last_row),
  -- A version before does not know these rows, and forgets jobs without removing them.
  FOREIGN KEY (tenant_id, job_id) REFERENCES import_job ON DELETE CASCADE
);
ALTER TABLE import_failed_part ENABLE ROW LEVEL SECURITY;
ALTER TABLE import_failed_part FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON import_failed_part
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);
