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
  PRIMARY KEY (tenant_id, id)
);

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
