-- Where the statistics know other tenants but not this one, Postgres expects one row of it by any index, and would read
-- all of them in another one to find a row by its key (ADR 0022).
ALTER TABLE attachment ALTER COLUMN tenant_id SET STATISTICS 0;
ALTER TABLE notification ALTER COLUMN tenant_id SET STATISTICS 0;

-- Versions of Postgres before 18 cannot be told to forget what they knew of the tenants.
DO $$ DECLARE name text; BEGIN
  IF current_setting('server_version_num')::int < 180000 THEN RETURN; END IF;
  FOREACH name IN ARRAY ARRAY['attachment', 'notification'] LOOP
    PERFORM pg_clear_attribute_stats('public', name, 'tenant_id', false);
  END LOOP;
END $$;
