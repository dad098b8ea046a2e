-- Companies of a tenant. Keys are compared byte by byte, which is what equal means for them.
CREATE TABLE company (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  external_id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  kind text NOT NULL CHECK (kind IN ('Customer', 'Supplier', 'Partner')),
  is_active boolean NOT NULL,
  founded_on date,
  credit_limit numeric(15, 2),
  employees integer,
  email text,
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  created_by text NOT NULL,
  changed_at timestamptz(3) NOT NULL DEFAULT now(),
  changed_by text NOT NULL,
  operation_id text,
  import_job_id uuid,
  import_row integer,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT company_external_id UNIQUE (tenant_id, external_id),
  CONSTRAINT company_operation_id UNIQUE (tenant_id, operation_id)
);
CREATE INDEX company_newest ON company (tenant_id, created_at, id);

ALTER TABLE company ENABLE ROW LEVEL SECURITY;
ALTER TABLE company FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON company
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

-- Contacts of a tenant. The stage is changed by workflow only.
CREATE TABLE contact (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  external_id text COLLATE "C" NOT NULL,
  first_name text,
  last_name text NOT NULL,
  email text,
  phone text,
  channel text NOT NULL CHECK (channel IN ('Email', 'Phone', 'Post')),
  wants_news boolean,
  born_on date,
  last_spoken_at timestamptz(3),
  company_id uuid,
  stage text NOT NULL DEFAULT 'Prospect' CHECK (stage IN ('Prospect', 'Active', 'Archived')),
  version integer NOT NULL DEFAULT 1,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  created_by text NOT NULL,
  changed_at timestamptz(3) NOT NULL DEFAULT now(),
  changed_by text NOT NULL,
  operation_id text,
  import_job_id uuid,
  import_row integer,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT contact_external_id UNIQUE (tenant_id, external_id),
  CONSTRAINT contact_operation_id UNIQUE (tenant_id, operation_id),
  CONSTRAINT contact_company FOREIGN KEY (tenant_id, company_id) REFERENCES company (tenant_id, id)
);
CREATE INDEX contact_newest ON contact (tenant_id, created_at, id);
CREATE INDEX contact_of_company ON contact (tenant_id, company_id);

ALTER TABLE contact ENABLE ROW LEVEL SECURITY;
ALTER TABLE contact FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON contact
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

-- Moves that workflow asked for, so that one that is asked for again is answered as the first time.
CREATE TABLE contact_move (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  contact_id uuid NOT NULL,
  new_stage text NOT NULL,
  moved_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, contact_id) REFERENCES contact (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX contact_move_of_contact ON contact_move (tenant_id, contact_id);

ALTER TABLE contact_move ENABLE ROW LEVEL SECURITY;
ALTER TABLE contact_move FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON contact_move
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

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

-- The tables of every service's messaging (libs/runtime/src/{outbox,inbox}.ts). Copied as they are into the first
-- migration of each service; a test compares them.

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

