SET lock_timeout = '2s';

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
-- Ids are random: trying to compress them would cost most of the time that noting them takes.
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

-- What is too old to be undone is forgotten for all tenants at once.
CREATE POLICY platform ON exchange_job USING (current_setting('plinth.scope', true) = 'platform');
CREATE POLICY platform ON exchange_former USING (current_setting('plinth.scope', true) = 'platform');
