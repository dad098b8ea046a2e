-- Requests that were open for ever: a move of the owner, which was on its way while they were made, took them from their
-- entity without ending them, and no other could be made. Each tenant's are ended within it, and those who may decide them
-- are removed with them (approval_ended).
DO $$
DECLARE
  tenant uuid;
BEGIN
  PERFORM set_config('plinth.scope', 'platform', true);
  FOR tenant IN SELECT DISTINCT tenant_id FROM approval WHERE "end" IS NULL LOOP
    PERFORM set_config('plinth.tenant_id', tenant::text, true);
    UPDATE approval SET "end" = 'Overtaken', ended_at = now(), ended_by = 'system', next_step_at = NULL
    WHERE tenant_id = tenant AND "end" IS NULL AND NOT EXISTS (SELECT FROM entity
      WHERE entity.tenant_id = approval.tenant_id AND entity.entity_type = approval.entity_type
        AND entity.entity_id = approval.entity_id AND entity.approval_id = approval.id);
  END LOOP;
  PERFORM set_config('plinth.scope', '', true);
  PERFORM set_config('plinth.tenant_id', '', true);
END $$;
