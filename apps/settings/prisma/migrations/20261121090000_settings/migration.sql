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
  PRIMARY KEY (tenant_id, scope, user_id, name),
  CHECK ((scope = 'user') = (user_id <> ''))
);

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

-- Facts this service tells. Kept for a week, so that a lost stream can be filled again.
CREATE TABLE outbox (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  sequence bigint GENERATED ALWAYS AS IDENTITY,
  name text NOT NULL,
  subject text NOT NULL,
  payload jsonb NOT NULL,
  actor_id text,
  actor_name text,
  occurred_at timestamptz NOT NULL DEFAULT now(),
  published_at timestamptz,
  -- When to ask the consumers whether they have it; empty when all have.
  check_at timestamptz,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX outbox_unpublished ON outbox (sequence) WHERE published_at IS NULL;
CREATE INDEX outbox_unconfirmed ON outbox (check_at) WHERE check_at IS NOT NULL;
CREATE INDEX outbox_age ON outbox (occurred_at);

-- Facts of others that were applied here, each in the transaction of its effect.
CREATE TABLE inbox (
  tenant_id uuid NOT NULL,
  consumer text NOT NULL,
  event_id uuid NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, consumer, event_id)
);
CREATE INDEX inbox_age ON inbox (applied_at);

-- Facts of others that could not be applied, with the reason, until somebody replays them.
CREATE TABLE dead_letter (
  tenant_id uuid NOT NULL,
  consumer text NOT NULL,
  event_id uuid NOT NULL,
  name text NOT NULL,
  envelope jsonb NOT NULL,
  error text NOT NULL,
  deliveries integer NOT NULL,
  died_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, consumer, event_id)
);

ALTER TABLE outbox ENABLE ROW LEVEL SECURITY;
ALTER TABLE outbox FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON outbox
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);
CREATE POLICY platform ON outbox USING (current_setting('plinth.scope', true) = 'platform');

ALTER TABLE inbox ENABLE ROW LEVEL SECURITY;
ALTER TABLE inbox FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON inbox
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);
CREATE POLICY platform ON inbox USING (current_setting('plinth.scope', true) = 'platform');

ALTER TABLE dead_letter ENABLE ROW LEVEL SECURITY;
ALTER TABLE dead_letter FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON dead_letter
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);
CREATE POLICY platform ON dead_letter USING (current_setting('plinth.scope', true) = 'platform');
