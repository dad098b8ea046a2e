-- Operations of the last two days, so that their retries find them here. Where they were stored before stays as it is,
-- since replicas of the version before run on these tables until they are replaced; a later version removes it.
SELECT set_config('plinth.scope', 'platform', true);
ALTER TABLE company NO FORCE ROW LEVEL SECURITY;
ALTER TABLE contact NO FORCE ROW LEVEL SECURITY;

INSERT INTO executed_operation (tenant_id, operation_id, result, executed_at)
SELECT tenant_id, operation_id, jsonb_build_object('id', id), created_at FROM company
WHERE operation_id IS NOT NULL AND created_at > now() - interval '2 days'
UNION ALL
SELECT tenant_id, operation_id, jsonb_build_object('id', id), created_at FROM contact
WHERE operation_id IS NOT NULL AND created_at > now() - interval '2 days'
ON CONFLICT DO NOTHING;

ALTER TABLE company FORCE ROW LEVEL SECURITY;
ALTER TABLE contact FORCE ROW LEVEL SECURITY;
