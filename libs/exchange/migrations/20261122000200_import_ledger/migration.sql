-- plinth: replaces 0.1.0
-- The import ledger of a data owner (libs/exchange/src/import).

-- Imports that data exchange sends: how far each is, and whether it accepts more.
CREATE TABLE exchange_job (
  tenant_id uuid NOT NULL,
  job_id uuid NOT NULL,
  last_batch integer NOT NULL DEFAULT 0,
  is_sealed boolean NOT NULL DEFAULT false,
  changed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, job_id)
);
CREATE INDEX exchange_job_age ON exchange_job (tenant_id, changed_at);

-- What became of each batch, written in its transaction: a batch that is sent again has the same response.
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

-- What a job wrote, batch by batch: the ids of the rows that it inserted and updated, 16 bytes each, and in which
-- (sub)transactions. A row that was written last by another transaction was changed since.
CREATE TABLE exchange_write (
  tenant_id uuid NOT NULL,
  job_id uuid NOT NULL,
  number bigint GENERATED ALWAYS AS IDENTITY,
  transactions text[] NOT NULL,
  inserted bytea NOT NULL,
  updated bytea NOT NULL,
  -- What became of its rows when the job was undone.
  undone jsonb,
  PRIMARY KEY (tenant_id, job_id, number),
  FOREIGN KEY (tenant_id, job_id) REFERENCES exchange_job ON DELETE CASCADE
);
-- Ids are random: trying to compress them would cost most of the time that writing them takes.
ALTER TABLE exchange_write ALTER inserted SET STORAGE EXTERNAL, ALTER updated SET STORAGE EXTERNAL;

-- Rows as they were before a job updated them.
CREATE TABLE exchange_former (
  tenant_id uuid NOT NULL,
  row_id uuid NOT NULL,
  job_id uuid NOT NULL,
  import_row integer NOT NULL,
  former jsonb NOT NULL,
  -- Who had written it last, and who gave it these values again.
  former_transaction text NOT NULL,
  restored_by_transaction text,
  kept_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, row_id, job_id)
);

-- Keeps a row as it is before a job updates it. It stands in the condition of the update, behind the cheap ones: so it is
-- asked of rows that are updated, and again of a row that was changed while the update waited.
CREATE FUNCTION exchange_keep_former(
  tenant uuid, row_id uuid, job uuid, file_row integer, row_now jsonb, written_by text
) RETURNS boolean LANGUAGE plpgsql COST 10000 AS $$
BEGIN
  INSERT INTO exchange_former AS f (tenant_id, row_id, job_id, import_row, former, former_transaction)
  VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT ON CONSTRAINT exchange_former_pkey
  DO UPDATE SET former = EXCLUDED.former, former_transaction = EXCLUDED.former_transaction;
  RETURN true;
END $$;

ALTER TABLE exchange_write ENABLE ROW LEVEL SECURITY;
ALTER TABLE exchange_write FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON exchange_write
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

ALTER TABLE exchange_former ENABLE ROW LEVEL SECURITY;
ALTER TABLE exchange_former FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON exchange_former
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

-- What is too old to be undone is deleted for all tenants at once.
CREATE POLICY platform ON exchange_job USING (current_setting('plinth.scope', true) = 'platform');
CREATE POLICY platform ON exchange_former USING (current_setting('plinth.scope', true) = 'platform');
