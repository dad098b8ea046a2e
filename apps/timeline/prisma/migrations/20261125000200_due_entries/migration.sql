-- Entries with so many followers that they are notified in parts, and tenants take turns at that.
CREATE TABLE due_entry (
  tenant_id uuid NOT NULL,
  entry_id uuid NOT NULL,
  -- The last follower who was notified; they are notified in the order of their ids.
  last_user_id text NOT NULL DEFAULT '',
  PRIMARY KEY (tenant_id, entry_id)
);

ALTER TABLE due_entry ENABLE ROW LEVEL SECURITY;
ALTER TABLE due_entry FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON due_entry
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);
-- Whose turn it is.
CREATE POLICY platform ON due_entry FOR SELECT USING (current_setting('plinth.scope', true) = 'platform');
