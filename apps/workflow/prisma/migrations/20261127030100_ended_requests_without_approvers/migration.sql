-- Those that ended before. Each tenant's are changed within it; nobody waits for them, since what has ended is not changed.
DO $$
DECLARE
  tenant uuid;
BEGIN
  PERFORM set_config('plinth.scope', 'platform', true);
  FOR tenant IN SELECT DISTINCT tenant_id FROM approval WHERE "end" IS NOT NULL LOOP
    PERFORM set_config('plinth.tenant_id', tenant::text, true);
    UPDATE approval SET approver_users = '{}', escalate_users = '{}'
    WHERE tenant_id = tenant AND "end" IS NOT NULL AND (approver_users <> '{}' OR escalate_users <> '{}');
  END LOOP;
  PERFORM set_config('plinth.scope', '', true);
  PERFORM set_config('plinth.tenant_id', '', true);
END $$;
