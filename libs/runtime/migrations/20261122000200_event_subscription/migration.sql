-- Which consumers subscribe to which events, as the last reconciliation saw it (libs/runtime/src/messaging/outbox.ts).
-- They belong to the platform, whose rows are those of the host tenant.
CREATE TABLE event_subscription (
  tenant_id uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
  consumer text NOT NULL,
  name text NOT NULL,
  -- When the consumer was made: one that was made again may have missed what was published before.
  created_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, consumer, name)
);

ALTER TABLE event_subscription ENABLE ROW LEVEL SECURITY;
ALTER TABLE event_subscription FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON event_subscription
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);
CREATE POLICY platform ON event_subscription USING (current_setting('plinth.scope', true) = 'platform');
