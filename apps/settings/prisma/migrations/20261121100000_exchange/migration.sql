SET lock_timeout = '2s';

-- Values have an id by which an import finds them, and say which row of which imported file wrote them last.
ALTER TABLE setting_value
  ADD COLUMN id uuid NOT NULL DEFAULT gen_random_uuid(),
  ADD COLUMN import_job_id uuid,
  ADD COLUMN import_row integer;
CREATE UNIQUE INDEX setting_value_id ON setting_value (tenant_id, id);

-- Imports that data exchange sends: how far each is, and whether it takes more.
CREATE TABLE exchange_job (
  tenant_id uuid NOT NULL,
  job_id uuid NOT NULL,
  last_batch integer NOT NULL DEFAULT 0,
  is_sealed boolean NOT NULL DEFAULT false,
  changed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, job_id)
);
CREATE INDEX exchange_job_age ON exchange_job (tenant_id, changed_at);

-- What became of each batch, written in its transaction: a batch that is sent again is answered from here.
CREATE TABLE exchange_batch (
  tenant_id uuid NOT NULL,
  job_id uuid NOT NULL,
  batch_number integer NOT NULL,
  outcome jsonb NOT NULL,
  PRIMARY KEY (tenant_id, job_id, batch_number),
  FOREIGN KEY (tenant_id, job_id) REFERENCES exchange_job ON DELETE CASCADE
);

-- Keys of rows that a job did not write: a later row of the file must not have them either.
CREATE TABLE exchange_key (
  tenant_id uuid NOT NULL,
  job_id uuid NOT NULL,
  key_hash uuid NOT NULL,
  row_number integer NOT NULL,
  PRIMARY KEY (tenant_id, job_id, key_hash),
  FOREIGN KEY (tenant_id, job_id) REFERENCES exchange_job ON DELETE CASCADE
);

ALTER TABLE exchange_job ENABLE ROW LEVEL SECURITY;
ALTER TABLE exchange_job FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON exchange_job
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

ALTER TABLE exchange_batch ENABLE ROW LEVEL SECURITY;
ALTER TABLE exchange_batch FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON exchange_batch
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

ALTER TABLE exchange_key ENABLE ROW LEVEL SECURITY;
ALTER TABLE exchange_key FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON exchange_key
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);
