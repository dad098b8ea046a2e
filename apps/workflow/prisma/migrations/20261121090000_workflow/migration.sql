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
