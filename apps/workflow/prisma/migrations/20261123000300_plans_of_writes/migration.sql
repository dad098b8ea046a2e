-- Where the statistics know other tenants but not this one, Postgres expects one row of it by any index, and would read
-- all of them in another one to find a row by its key (ADR 0022).
ALTER TABLE approval ALTER COLUMN tenant_id SET STATISTICS 0;
ALTER TABLE delegation ALTER COLUMN tenant_id SET STATISTICS 0;

-- Versions of Postgres before 18 cannot be told to forget what they knew of the tenants.
DO $$ DECLARE name text; BEGIN
  IF current_setting('server_version_num')::int < 180000 THEN RETURN; END IF;
  FOREACH name IN ARRAY ARRAY['approval', 'delegation'] LOOP
    PERFORM pg_clear_attribute_stats('public', name, 'tenant_id', false);
  END LOOP;
END $$;

-- Delegations without an operation need no place in this index, and no look-up by another column can take it.
ALTER TABLE delegation DROP CONSTRAINT delegation_tenant_id_operation_id_key;
CREATE UNIQUE INDEX delegation_operation_id ON delegation (tenant_id, operation_id) WHERE operation_id IS NOT NULL;
