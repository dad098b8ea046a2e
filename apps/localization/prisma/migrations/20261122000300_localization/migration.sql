-- plinth: replaces 0.1.0
-- Localization: the texts that tenants say in their own words.
-- Keys are compared byte by byte, whatever the language of the database is.
CREATE TABLE override (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  resource_name text COLLATE "C" NOT NULL,
  culture_name text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  value text NOT NULL,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  modified_at timestamptz(3) NOT NULL DEFAULT now(),
  modified_by text NOT NULL,
  -- Which row of which imported file wrote it last.
  import_job_id uuid,
  import_row integer,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT override_of_text UNIQUE (tenant_id, resource_name, culture_name, key)
);
CREATE INDEX override_of_culture ON override (tenant_id, culture_name);

CREATE TABLE override_operation (
  tenant_id uuid NOT NULL,
  operation_id text NOT NULL,
  answer jsonb NOT NULL,
  executed_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, operation_id)
);
CREATE INDEX override_operation_age ON override_operation (tenant_id, executed_at);

ALTER TABLE override ENABLE ROW LEVEL SECURITY;
ALTER TABLE override FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON override
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

ALTER TABLE override_operation ENABLE ROW LEVEL SECURITY;
ALTER TABLE override_operation FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON override_operation
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

-- A counter of changes is a lock that all writers of a tenant share, for as long as an import lasts. Marks are not:
-- each change puts its own and takes away those that nobody holds.
CREATE TABLE override_mark (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  PRIMARY KEY (tenant_id, id)
);

ALTER TABLE override_mark ENABLE ROW LEVEL SECURITY;
ALTER TABLE override_mark FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON override_mark
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);
