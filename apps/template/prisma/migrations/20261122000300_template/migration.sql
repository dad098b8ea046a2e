-- plinth: replaces 0.1.0
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
-- Old operations are deleted for all tenants.
CREATE POLICY platform ON operation USING (current_setting('plinth.scope', true) = 'platform');
