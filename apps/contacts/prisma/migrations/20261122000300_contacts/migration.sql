-- plinth: replaces 0.1.0
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
  -- A filter may compare it with numbers that an integer cannot hold.
  employees bigint,
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
  -- Who made it, so that a repeated one can say so.
  moved_by text NOT NULL DEFAULT '',
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, contact_id) REFERENCES contact (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX contact_move_of_contact ON contact_move (tenant_id, contact_id);

ALTER TABLE contact_move ENABLE ROW LEVEL SECURITY;
ALTER TABLE contact_move FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON contact_move
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);
