-- Templates, their revisions and categories.
CREATE TABLE template_category (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  description text,
  icon text,
  sort_order integer NOT NULL DEFAULT 0,
  version integer NOT NULL DEFAULT 1,
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, name)
);

CREATE TABLE template (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  culture text NOT NULL DEFAULT '',
  category_name text,
  -- Lists sort by it, and a row that is not there cannot be gone on after.
  category_key text GENERATED ALWAYS AS (COALESCE(category_name, '')) STORED,
  status integer NOT NULL DEFAULT 0 CHECK (status BETWEEN 0 AND 3),
  mime_type text NOT NULL DEFAULT 'text/html',
  content text NOT NULL DEFAULT '',
  requires_approval boolean,
  draft_id uuid,
  published_id uuid,
  submitted_by text,
  is_gone boolean NOT NULL DEFAULT false,
  last_modified_at timestamptz(3) NOT NULL DEFAULT now(),
  last_modified_by text NOT NULL DEFAULT '',
  version integer NOT NULL DEFAULT 1,
  import_job_id uuid,
  import_row integer,
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, name, culture),
  -- A renamed category carries its templates along; one that is used cannot be deleted.
  FOREIGN KEY (tenant_id, category_name) REFERENCES template_category (tenant_id, name) ON UPDATE CASCADE
);
CREATE INDEX template_modified ON template (tenant_id, last_modified_at DESC, id DESC) WHERE NOT is_gone;
CREATE INDEX template_of_category ON template (tenant_id, category_name);

CREATE TABLE template_revision (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  template_id uuid NOT NULL,
  number integer NOT NULL,
  status integer NOT NULL CHECK (status BETWEEN 0 AND 3),
  mime_type text NOT NULL,
  content text NOT NULL,
  content_length integer NOT NULL,
  created_at timestamptz(3) NOT NULL,
  created_by text NOT NULL,
  published_at timestamptz(3),
  published_by text,
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, template_id, number),
  FOREIGN KEY (tenant_id, template_id) REFERENCES template (tenant_id, id)
);
-- A template has one draft and one published revision at most.
CREATE UNIQUE INDEX template_revision_draft ON template_revision (tenant_id, template_id) WHERE status IN (0, 1);
CREATE UNIQUE INDEX template_revision_published ON template_revision (tenant_id, template_id) WHERE status = 2;

CREATE TABLE operation (
  tenant_id uuid NOT NULL,
  id text NOT NULL,
  result jsonb NOT NULL,
  done_at timestamptz(3) NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX operation_age ON operation (done_at);

ALTER TABLE template_category ENABLE ROW LEVEL SECURITY;
ALTER TABLE template_category FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON template_category
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

ALTER TABLE template ENABLE ROW LEVEL SECURITY;
ALTER TABLE template FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON template
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

ALTER TABLE template_revision ENABLE ROW LEVEL SECURITY;
ALTER TABLE template_revision FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON template_revision
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

ALTER TABLE operation ENABLE ROW LEVEL SECURITY;
ALTER TABLE operation FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON operation
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

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
