-- Operations of the last two days, so that their retries find them here. Where they were stored before stays as it is,
-- since replicas of the version before run on these tables until they are replaced; a later version removes it.
SELECT set_config('plinth.scope', 'platform', true);
ALTER TABLE setting_change NO FORCE ROW LEVEL SECURITY;

INSERT INTO executed_operation (tenant_id, operation_id, result, executed_at)
SELECT tenant_id, operation_id || '/' || name, 'null'::jsonb, changed_at FROM setting_change
WHERE operation_id IS NOT NULL AND changed_at > now() - interval '2 days'
ON CONFLICT DO NOTHING;

ALTER TABLE setting_change FORCE ROW LEVEL SECURITY;
