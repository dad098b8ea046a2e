-- Events of tenants of which more arrived than is processed at once: tenants take turns at them.
CREATE TABLE waiting_event (
  tenant_id uuid NOT NULL,
  consumer text NOT NULL,
  event_id uuid NOT NULL,
  -- In the order of their arrival.
  position bigint GENERATED ALWAYS AS IDENTITY,
  name text NOT NULL,
  envelope jsonb NOT NULL,
  -- How often it was tried; an event may end the process that tries it.
  attempts integer NOT NULL DEFAULT 0,
  -- When to try it again after it failed.
  due_at timestamptz NOT NULL DEFAULT '-infinity',
  stored_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, consumer, event_id)
);
-- By name, since another release may not know all of them. Of all rows, but only for statements that say so: whatever the
-- statistics say, those that ask for an event by its key use that.
CREATE INDEX waiting_event_turns ON waiting_event (consumer, name, tenant_id, due_at, position) WHERE position > 0;

ALTER TABLE waiting_event ENABLE ROW LEVEL SECURITY;
ALTER TABLE waiting_event FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON waiting_event
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);
-- Whose turn it is, and what publishers ask for.
CREATE POLICY platform ON waiting_event FOR SELECT USING (current_setting('plinth.scope', true) = 'platform');
-- What no release subscribed to for a month.
CREATE POLICY platform_cleanup ON waiting_event FOR DELETE USING (current_setting('plinth.scope', true) = 'platform');
