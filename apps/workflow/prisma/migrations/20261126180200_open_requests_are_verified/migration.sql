-- Entities may be gone of which no owner published that, since none did before: the owner is asked once about each open
-- request. Each tenant's are changed within it.
DO $$
DECLARE
  tenant uuid;
BEGIN
  PERFORM set_config('plinth.scope', 'platform', true);
  FOR tenant IN SELECT DISTINCT tenant_id FROM approval WHERE "end" IS NULL LOOP
    PERFORM set_config('plinth.tenant_id', tenant::text, true);
    UPDATE approval SET verify_at = date_trunc('milliseconds', now())
    WHERE tenant_id = tenant AND "end" IS NULL;
  END LOOP;
  PERFORM set_config('plinth.scope', '', true);
  PERFORM set_config('plinth.tenant_id', '', true);
END $$;
