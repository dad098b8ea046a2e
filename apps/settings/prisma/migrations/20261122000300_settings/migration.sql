-- plinth: replaces 0.1.0
-- Settings: what may be set, what is set at each level, what is locked, and who changed it.
CREATE TABLE setting_definition (
  tenant_id uuid NOT NULL,
  name text NOT NULL,
  service text NOT NULL,
  description text NOT NULL,
  default_value text,
  scopes text[] NOT NULL,
  is_visible_to_users boolean NOT NULL,
  is_secret boolean NOT NULL,
  schema jsonb NOT NULL,
  registered_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, name)
);

CREATE TABLE setting_value (
  tenant_id uuid NOT NULL,
  scope text NOT NULL CHECK (scope IN ('user', 'tenant', 'global')),
  user_id text NOT NULL,
  name text NOT NULL,
  value text NOT NULL,
  updated_at timestamptz(3) NOT NULL DEFAULT now(),
  -- By which an import finds it, and which row of which imported file wrote it last.
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  import_job_id uuid,
  import_row integer,
  PRIMARY KEY (tenant_id, scope, user_id, name),
  CHECK ((scope = 'user') = (user_id <> ''))
);
CREATE UNIQUE INDEX setting_value_id ON setting_value (tenant_id, id);

CREATE TABLE setting_lock (
  tenant_id uuid NOT NULL,
  scope text NOT NULL CHECK (scope IN ('tenant', 'global')),
  name text NOT NULL,
  locked_at timestamptz(3) NOT NULL DEFAULT now(),
  locked_by text NOT NULL,
  PRIMARY KEY (tenant_id, scope, name)
);

CREATE TABLE setting_change (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  scope text NOT NULL,
  user_id text NOT NULL,
  name text NOT NULL,
  kind text NOT NULL,
  previous_value text,
  new_value text,
  changed_at timestamptz(3) NOT NULL,
  changed_by text NOT NULL,
  operation_id text,
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, operation_id, name)
);
CREATE INDEX setting_change_of_setting ON setting_change (tenant_id, scope, user_id, name, changed_at, id);

ALTER TABLE setting_definition ENABLE ROW LEVEL SECURITY;
ALTER TABLE setting_definition FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON setting_definition
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

ALTER TABLE setting_value ENABLE ROW LEVEL SECURITY;
ALTER TABLE setting_value FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON setting_value
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

ALTER TABLE setting_lock ENABLE ROW LEVEL SECURITY;
ALTER TABLE setting_lock FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON setting_lock
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

ALTER TABLE setting_change ENABLE ROW LEVEL SECURITY;
ALTER TABLE setting_change FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON setting_change
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

-- What the platform decides shows through in every tenant; only the host tenant may write it.
CREATE POLICY definitions_of_the_platform ON setting_definition FOR SELECT
  USING (tenant_id = '00000000-0000-0000-0000-000000000000');
CREATE POLICY values_of_the_platform ON setting_value FOR SELECT
  USING (tenant_id = '00000000-0000-0000-0000-000000000000' AND scope = 'global');
CREATE POLICY locks_of_the_platform ON setting_lock FOR SELECT
  USING (tenant_id = '00000000-0000-0000-0000-000000000000' AND scope = 'global');
