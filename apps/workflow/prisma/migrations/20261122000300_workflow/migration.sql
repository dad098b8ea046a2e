-- plinth: replaces 0.1.0
-- Workflow: how entities may move, where they stand, what happened to them, and who is asked to agree.
CREATE TABLE definition (
  tenant_id uuid NOT NULL,
  entity_type text NOT NULL,
  version integer NOT NULL CHECK (version > 0),
  body jsonb,
  saved_at timestamptz(3) NOT NULL,
  saved_by text NOT NULL,
  PRIMARY KEY (tenant_id, entity_type, version)
);

CREATE TABLE entity (
  tenant_id uuid NOT NULL,
  entity_type text NOT NULL,
  entity_id text NOT NULL,
  state text NOT NULL,
  revision integer NOT NULL,
  moves integer NOT NULL,
  approval_id uuid,
  changed_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, entity_type, entity_id)
) WITH (fillfactor = 70);
CREATE INDEX entity_in_state ON entity (tenant_id, entity_type, state);

CREATE TABLE move (
  tenant_id uuid NOT NULL,
  entity_type text NOT NULL,
  entity_id text NOT NULL,
  position integer NOT NULL CHECK (position > 0),
  id uuid NOT NULL,
  owner_move_id uuid,
  transition_name text NOT NULL,
  previous_state text NOT NULL,
  new_state text NOT NULL,
  transitioned_at timestamptz(3) NOT NULL,
  transitioned_by text NOT NULL,
  transitioned_by_name text NOT NULL,
  comment text,
  PRIMARY KEY (tenant_id, entity_type, entity_id, position),
  UNIQUE (tenant_id, id),
  UNIQUE (tenant_id, owner_move_id)
);

CREATE TABLE approval (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  entity_type text NOT NULL,
  entity_id text NOT NULL,
  transition_name text NOT NULL,
  former_state text NOT NULL,
  target_state text NOT NULL,
  requested_by text NOT NULL,
  requested_by_name text NOT NULL,
  requested_at timestamptz(3) NOT NULL,
  comment text,
  approver_permission text,
  approver_users text[] NOT NULL,
  needed integer NOT NULL CHECK (needed > 0),
  remind_at timestamptz(3),
  escalate_at timestamptz(3),
  escalate_permission text,
  escalate_users text[] NOT NULL,
  is_reminded boolean NOT NULL,
  is_escalated boolean NOT NULL,
  expires_at timestamptz(3),
  next_step_at timestamptz(3),
  "end" text,
  ended_at timestamptz(3),
  ended_by text,
  PRIMARY KEY (tenant_id, id)
);
-- An entity waits for one decision at a time.
CREATE UNIQUE INDEX approval_open_of_entity ON approval (tenant_id, entity_type, entity_id) WHERE "end" IS NULL;
CREATE INDEX approval_open ON approval (tenant_id, requested_at, id) WHERE "end" IS NULL;
-- Read by the sweeper, across tenants.
CREATE INDEX approval_due ON approval (next_step_at) WHERE "end" IS NULL AND next_step_at IS NOT NULL;

CREATE TABLE approval_vote (
  tenant_id uuid NOT NULL,
  approval_id uuid NOT NULL,
  seat text NOT NULL,
  voter_id text NOT NULL,
  comment text,
  voted_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, approval_id, seat),
  UNIQUE (tenant_id, approval_id, voter_id),
  FOREIGN KEY (tenant_id, approval_id) REFERENCES approval (tenant_id, id)
);

CREATE TABLE delegation (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  delegator_id text NOT NULL,
  delegator_name text NOT NULL,
  permissions text[] NOT NULL,
  delegate_id text NOT NULL,
  from_at timestamptz(3) NOT NULL,
  until_at timestamptz(3) NOT NULL,
  created_at timestamptz(3) NOT NULL,
  operation_id text,
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, operation_id)
);
CREATE INDEX delegation_to ON delegation (tenant_id, delegate_id, until_at);
CREATE INDEX delegation_by ON delegation (tenant_id, delegator_id, until_at);

CREATE TABLE operation (
  tenant_id uuid NOT NULL,
  operation_id text NOT NULL,
  outcome text NOT NULL,
  result_state text NOT NULL,
  done_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, operation_id)
);
CREATE INDEX operation_age ON operation (done_at);

ALTER TABLE definition ENABLE ROW LEVEL SECURITY;
ALTER TABLE definition FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON definition
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

ALTER TABLE entity ENABLE ROW LEVEL SECURITY;
ALTER TABLE entity FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON entity
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

ALTER TABLE move ENABLE ROW LEVEL SECURITY;
ALTER TABLE move FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON move
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

ALTER TABLE approval ENABLE ROW LEVEL SECURITY;
ALTER TABLE approval FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON approval
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

ALTER TABLE approval_vote ENABLE ROW LEVEL SECURITY;
ALTER TABLE approval_vote FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON approval_vote
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

ALTER TABLE delegation ENABLE ROW LEVEL SECURITY;
ALTER TABLE delegation FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON delegation
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

ALTER TABLE operation ENABLE ROW LEVEL SECURITY;
ALTER TABLE operation FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON operation
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

-- The platform's defaults show through in every tenant; only the host tenant may write them.
CREATE POLICY definitions_of_the_platform ON definition FOR SELECT
  USING (tenant_id = '00000000-0000-0000-0000-000000000000');

-- Whoever changes a default must know where entities of all tenants stand.
CREATE POLICY platform ON definition FOR SELECT USING (current_setting('plinth.scope', true) = 'platform');
CREATE POLICY platform ON entity FOR SELECT USING (current_setting('plinth.scope', true) = 'platform');
CREATE POLICY platform ON approval FOR SELECT USING (current_setting('plinth.scope', true) = 'platform');
CREATE POLICY platform ON operation FOR DELETE USING (current_setting('plinth.scope', true) = 'platform');
CREATE POLICY platform_sees ON operation FOR SELECT USING (current_setting('plinth.scope', true) = 'platform');
