-- plinth: replaces 0.1.0
-- Timeline: what happened to entities, who follows them, who was told, and the people of a tenant.
CREATE TABLE entry (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  entity_type text COLLATE "C" NOT NULL,
  entity_id text COLLATE "C" NOT NULL,
  entry_type smallint NOT NULL CHECK (entry_type IN (0, 1, 2)),
  internal boolean NOT NULL GENERATED ALWAYS AS (entry_type = 1) STORED,
  body text NOT NULL,
  message_key text,
  message_values jsonb,
  author_id text NOT NULL,
  author_display_name text NOT NULL,
  parent_entry_id uuid,
  created_at timestamptz(3) NOT NULL,
  operation_id text,
  PRIMARY KEY (tenant_id, id),
  CHECK ((entry_type = 2) = (message_key IS NOT NULL))
);
CREATE INDEX entry_stream ON entry (tenant_id, entity_type, entity_id, created_at DESC, id DESC);
-- The same for those who see no notes, so that a page of theirs never reads past notes.
CREATE INDEX entry_stream_public ON entry (tenant_id, entity_type, entity_id, created_at DESC, id DESC)
  WHERE NOT internal;
CREATE UNIQUE INDEX entry_operation ON entry (tenant_id, operation_id) WHERE operation_id IS NOT NULL;

CREATE TABLE entry_count (
  tenant_id uuid NOT NULL,
  entity_type text COLLATE "C" NOT NULL,
  entity_id text COLLATE "C" NOT NULL,
  public_count integer NOT NULL,
  internal_count integer NOT NULL,
  PRIMARY KEY (tenant_id, entity_type, entity_id)
);

CREATE TABLE blob (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  file_name text NOT NULL,
  mime_type text NOT NULL,
  size_bytes bigint NOT NULL,
  sha256 text NOT NULL,
  uploaded_by text NOT NULL,
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  -- When to look whether an entry refers to the file; empty once one did.
  check_at timestamptz(3),
  -- Found unused: it can no longer be attached, and its content is being removed.
  is_removed boolean NOT NULL DEFAULT false,
  PRIMARY KEY (tenant_id, id)
);
CREATE INDEX blob_to_check ON blob (check_at) WHERE check_at IS NOT NULL;

CREATE TABLE attachment (
  tenant_id uuid NOT NULL,
  entry_id uuid NOT NULL,
  position smallint NOT NULL,
  blob_id uuid NOT NULL,
  PRIMARY KEY (tenant_id, entry_id, position),
  FOREIGN KEY (tenant_id, entry_id) REFERENCES entry ON DELETE CASCADE,
  FOREIGN KEY (tenant_id, blob_id) REFERENCES blob
);
CREATE INDEX attachment_of_blob ON attachment (tenant_id, blob_id);

CREATE TABLE follower (
  tenant_id uuid NOT NULL,
  entity_type text COLLATE "C" NOT NULL,
  entity_id text COLLATE "C" NOT NULL,
  user_id text NOT NULL,
  internal boolean NOT NULL,
  since timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, entity_type, entity_id, user_id)
);

CREATE TABLE person (
  tenant_id uuid NOT NULL,
  user_id text NOT NULL,
  display_name text NOT NULL,
  seen_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, user_id)
);

CREATE TABLE notification (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  user_id text NOT NULL,
  sequence bigint NOT NULL,
  kind text NOT NULL CHECK (kind IN ('Mention', 'Entry')),
  internal boolean NOT NULL,
  entry_id uuid NOT NULL,
  created_at timestamptz(3) NOT NULL,
  read_at timestamptz(3),
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, entry_id, user_id),
  UNIQUE (tenant_id, user_id, sequence),
  FOREIGN KEY (tenant_id, entry_id) REFERENCES entry ON DELETE CASCADE
);
CREATE INDEX notification_list ON notification (tenant_id, user_id, created_at DESC, id DESC);
CREATE INDEX notification_unread ON notification (tenant_id, user_id) WHERE read_at IS NULL;

CREATE TABLE notification_count (
  tenant_id uuid NOT NULL,
  user_id text NOT NULL,
  last_sequence bigint NOT NULL,
  PRIMARY KEY (tenant_id, user_id)
);

ALTER TABLE entry ENABLE ROW LEVEL SECURITY;
ALTER TABLE entry FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON entry
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

ALTER TABLE entry_count ENABLE ROW LEVEL SECURITY;
ALTER TABLE entry_count FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON entry_count
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

ALTER TABLE blob ENABLE ROW LEVEL SECURITY;
ALTER TABLE blob FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON blob
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

ALTER TABLE attachment ENABLE ROW LEVEL SECURITY;
ALTER TABLE attachment FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON attachment
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

ALTER TABLE follower ENABLE ROW LEVEL SECURITY;
ALTER TABLE follower FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON follower
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

ALTER TABLE person ENABLE ROW LEVEL SECURITY;
ALTER TABLE person FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON person
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

ALTER TABLE notification ENABLE ROW LEVEL SECURITY;
ALTER TABLE notification FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON notification
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

ALTER TABLE notification_count ENABLE ROW LEVEL SECURITY;
ALTER TABLE notification_count FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON notification_count
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

-- The removal of unused files is for all tenants.
CREATE POLICY platform ON blob USING (current_setting('plinth.scope', true) = 'platform');
CREATE POLICY platform ON attachment FOR SELECT USING (current_setting('plinth.scope', true) = 'platform');
