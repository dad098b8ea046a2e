-- What the system says of many entities at once is one row, instead of an entry with its places in three indexes
-- and a counter for each of them (ADR 0040). Their ids begin alike, and by that beginning the row is found.
CREATE TABLE shared_entry (
  tenant_id uuid NOT NULL,
  entity_type text COLLATE "C" NOT NULL,
  entity_id_head text COLLATE "C" NOT NULL,
  -- Of the first of its entries.
  id uuid NOT NULL,
  -- An entry for each entity, in the same order.
  entry_ids uuid[] NOT NULL,
  entity_ids text[] COLLATE "C" NOT NULL,
  body text NOT NULL,
  message_key text NOT NULL,
  message_values jsonb NOT NULL,
  author_id text NOT NULL,
  author_display_name text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  PRIMARY KEY (tenant_id, entity_type, entity_id_head, id)
);
-- Random bytes are not worth an attempt to compress them.
ALTER TABLE shared_entry ALTER COLUMN entry_ids SET STORAGE EXTERNAL;
ALTER TABLE shared_entry ALTER COLUMN entity_ids SET STORAGE EXTERNAL;

ALTER TABLE shared_entry ENABLE ROW LEVEL SECURITY;
ALTER TABLE shared_entry FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON shared_entry
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

-- All entries, as their readers see them. Whoever looks for those of an entity names the beginning of its id as well.
CREATE VIEW timeline_entry WITH (security_invoker = true) AS
SELECT tenant_id, id, entity_type, entity_id, left(entity_id, 16) AS entity_id_head, false AS is_shared, entry_type,
  internal, body, message_key, message_values, author_id, author_display_name, parent_entry_id, created_at
FROM entry
UNION ALL
SELECT tenant_id, unnest(entry_ids), entity_type, unnest(entity_ids), entity_id_head, true, 2::smallint, false, body,
  message_key, message_values, author_id, author_display_name, NULL::uuid, created_at
FROM shared_entry;

-- Where the statistics know other tenants but not this one, Postgres would read all its entries by their ids (ADR 0022).
ALTER TABLE entry ALTER COLUMN tenant_id SET STATISTICS 0;

-- Versions of Postgres before 18 cannot be told to forget what they knew of the tenants.
DO $$ BEGIN
  IF current_setting('server_version_num')::int >= 180000 THEN
    PERFORM pg_clear_attribute_stats('public', 'entry', 'tenant_id', false);
  END IF;
END $$;
