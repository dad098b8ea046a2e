-- Checks of foreign keys look for a row by tenant and id. Where the statistics know other tenants but not this one,
-- Postgres expects one row of it by any index that begins with the tenant, and would read all of them for each check.
-- Without statistics about tenants it expects a share of the table, and takes the index of both columns.
ALTER TABLE company ALTER COLUMN tenant_id SET STATISTICS 0;
ALTER TABLE contact ALTER COLUMN tenant_id SET STATISTICS 0;

-- Versions of Postgres before 18 cannot be told to forget what they knew of the tenants.
DO $$ DECLARE name text; BEGIN
  IF current_setting('server_version_num')::int < 180000 THEN RETURN; END IF;
  FOREACH name IN ARRAY ARRAY['company', 'contact'] LOOP
    PERFORM pg_clear_attribute_stats('public', name, 'tenant_id', false);
  END LOOP;
END $$;
