SET lock_timeout = '2s';

-- The undo of an import: who asked for it, and how far it is.
CREATE TABLE import_undo (
  tenant_id uuid NOT NULL,
  job_id uuid NOT NULL,
  status text NOT NULL CHECK (status IN ('Undoing', 'Undone', 'PartiallyUndone', 'Failed')),
  caller jsonb NOT NULL,
  requested_at timestamptz(3) NOT NULL,
  started_at timestamptz(3),
  progress_at timestamptz(3),
  completed_at timestamptz(3),
  error_message text,
  -- The write of the job that was counted last. Their numbers descend.
  last_write bigint,
  removed_rows integer NOT NULL DEFAULT 0,
  restored_rows integer NOT NULL DEFAULT 0,
  gone_rows integer NOT NULL DEFAULT 0,
  kept_rows integer NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant_id, job_id),
  FOREIGN KEY (tenant_id, job_id) REFERENCES import_job ON DELETE CASCADE
);

-- Rows that an undo left as they are.
CREATE TABLE import_kept_row (
  tenant_id uuid NOT NULL,
  job_id uuid NOT NULL,
  write_number bigint NOT NULL,
  position integer NOT NULL,
  row_number integer,
  key text NOT NULL,
  reason text NOT NULL,
  PRIMARY KEY (tenant_id, job_id, write_number, position),
  FOREIGN KEY (tenant_id, job_id) REFERENCES import_job ON DELETE CASCADE
);

ALTER TABLE import_undo ENABLE ROW LEVEL SECURITY;
ALTER TABLE import_undo FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON import_undo
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);
-- What should run and does not is looked for in all tenants.
CREATE POLICY platform ON import_undo USING (current_setting('plinth.scope', true) = 'platform');

ALTER TABLE import_kept_row ENABLE ROW LEVEL SECURITY;
ALTER TABLE import_kept_row FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON import_kept_row
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);
