-- plinth: replaces 0.1.0
-- Data exchange: jobs, the rows that failed, saved mappings and presets. The data itself belongs to other services.
CREATE TABLE import_job (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  definition_name text NOT NULL,
  permission text NOT NULL,
  original_file_name text NOT NULL,
  mime_type text NOT NULL,
  file_size_bytes bigint NOT NULL,
  sha256 text NOT NULL,
  blob_key text NOT NULL,
  format jsonb NOT NULL,
  headers jsonb,
  status text NOT NULL CHECK (
    status IN ('Created', 'Previewed', 'Mapped', 'Executing', 'Completed', 'PartiallyCompleted', 'Failed', 'Cancelled')
  ),
  mappings jsonb,
  options jsonb NOT NULL,
  caller jsonb,
  created_by text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  executed_at timestamptz(3),
  completed_at timestamptz(3),
  started_at timestamptz(3),
  progress_at timestamptz(3),
  cancel_requested_at timestamptz(3),
  error_message text,
  last_batch integer NOT NULL DEFAULT 0,
  bytes_done bigint NOT NULL DEFAULT 0,
  total_rows integer NOT NULL DEFAULT 0,
  inserted_rows integer NOT NULL DEFAULT 0,
  updated_rows integer NOT NULL DEFAULT 0,
  skipped_rows integer NOT NULL DEFAULT 0,
  failed_rows integer NOT NULL DEFAULT 0,
  -- When its file was removed for good.
  file_removed_at timestamptz(3),
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX import_job_age ON import_job (tenant_id, created_at, id);
CREATE INDEX import_job_running ON import_job (started_at) WHERE status = 'Executing';
CREATE INDEX import_job_file ON import_job (created_at) WHERE file_removed_at IS NULL;

CREATE TABLE import_failed_row (
  tenant_id uuid NOT NULL,
  job_id uuid NOT NULL,
  row_number integer NOT NULL,
  kind text NOT NULL,
  details jsonb NOT NULL,
  cells jsonb NOT NULL,
  PRIMARY KEY (tenant_id, job_id, row_number),
  FOREIGN KEY (tenant_id, job_id) REFERENCES import_job ON DELETE CASCADE
);

CREATE TABLE saved_mapping (
  tenant_id uuid NOT NULL,
  definition_name text NOT NULL,
  header_hash text NOT NULL,
  mappings jsonb NOT NULL,
  saved_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, definition_name, header_hash)
);

CREATE TABLE export_job (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  definition_name text NOT NULL,
  permission text NOT NULL,
  format text NOT NULL,
  request jsonb NOT NULL,
  status text NOT NULL CHECK (status IN ('Queued', 'Exporting', 'Completed', 'Failed')),
  caller jsonb NOT NULL,
  created_by text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  completed_at timestamptz(3),
  started_at timestamptz(3),
  progress_at timestamptz(3),
  cancel_requested_at timestamptz(3),
  error_message text,
  row_count integer,
  rows_done integer NOT NULL DEFAULT 0,
  file_name text,
  file_size_bytes bigint,
  sha256 text,
  blob_key text,
  operation_id text,
  file_removed_at timestamptz(3),
  -- The file holds rows that only callers with this permission see.
  wider_permission text,
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, operation_id)
);
CREATE INDEX export_job_age ON export_job (tenant_id, created_at, id);
CREATE INDEX export_job_running ON export_job (started_at) WHERE status IN ('Queued', 'Exporting');
CREATE INDEX export_job_file ON export_job (created_at) WHERE file_removed_at IS NULL;

CREATE TABLE export_preset (
  tenant_id uuid NOT NULL,
  user_id text NOT NULL,
  definition_name text NOT NULL,
  preset_name text NOT NULL,
  selected_fields text[] NOT NULL,
  format text NOT NULL,
  include_id_for_import boolean NOT NULL,
  saved_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, user_id, definition_name, preset_name)
);

ALTER TABLE import_job ENABLE ROW LEVEL SECURITY;
ALTER TABLE import_job FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON import_job
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);
CREATE POLICY platform ON import_job USING (current_setting('plinth.scope', true) = 'platform');

ALTER TABLE import_failed_row ENABLE ROW LEVEL SECURITY;
ALTER TABLE import_failed_row FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON import_failed_row
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

ALTER TABLE saved_mapping ENABLE ROW LEVEL SECURITY;
ALTER TABLE saved_mapping FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON saved_mapping
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

ALTER TABLE export_job ENABLE ROW LEVEL SECURITY;
ALTER TABLE export_job FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON export_job
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);
CREATE POLICY platform ON export_job USING (current_setting('plinth.scope', true) = 'platform');

ALTER TABLE export_preset ENABLE ROW LEVEL SECURITY;
ALTER TABLE export_preset FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON export_preset
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

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
