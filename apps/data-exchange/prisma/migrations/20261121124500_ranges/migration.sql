SET lock_timeout = '2s';

-- The ranges that a large file is cut into, and how far each is.
CREATE TABLE import_range (
  tenant_id uuid NOT NULL,
  job_id uuid NOT NULL,
  number integer NOT NULL,
  start_byte bigint NOT NULL,
  -- Empty: up to the end of the file.
  end_byte bigint,
  -- Records of the file before the range, the header included.
  records_before integer NOT NULL,
  last_batch integer NOT NULL DEFAULT 0,
  bytes_done bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant_id, job_id, number),
  FOREIGN KEY (tenant_id, job_id) REFERENCES import_job ON DELETE CASCADE
);

-- The keys of all rows, batch by batch, until it is known which of them repeat.
CREATE TABLE import_key (
  tenant_id uuid NOT NULL,
  job_id uuid NOT NULL,
  range integer NOT NULL,
  batch integer NOT NULL,
  row_numbers integer[] NOT NULL,
  hashes uuid[] NOT NULL,
  PRIMARY KEY (tenant_id, job_id, range, batch),
  FOREIGN KEY (tenant_id, job_id) REFERENCES import_job ON DELETE CASCADE
);

-- Rows whose key stands in an earlier row of the file.
CREATE TABLE import_duplicate (
  tenant_id uuid NOT NULL,
  job_id uuid NOT NULL,
  row_number integer NOT NULL,
  first_row integer NOT NULL,
  PRIMARY KEY (tenant_id, job_id, row_number),
  FOREIGN KEY (tenant_id, job_id) REFERENCES import_job ON DELETE CASCADE
);

ALTER TABLE import_range ENABLE ROW LEVEL SECURITY;
ALTER TABLE import_range FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON import_range
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

ALTER TABLE import_key ENABLE ROW LEVEL SECURITY;
ALTER TABLE import_key FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON import_key
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

ALTER TABLE import_duplicate ENABLE ROW LEVEL SECURITY;
ALTER TABLE import_duplicate FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON import_duplicate
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);
