-- Templates without a category need no place in this index, and no look-up by another column can take it: Postgres read
-- all templates of a tenant in it to find one by its name or id, where it planned a statement while there were few
-- (ADR 0022).
DROP INDEX template_of_category;
CREATE INDEX template_of_category ON template (tenant_id, category_name) WHERE category_name IS NOT NULL;

-- Of a tenant all rows are expected, so that a plan finds a row by its whole key however few rows there were when it was
-- made. `ANALYZE` leaves that alone, since it collects no statistics about the tenants of these tables.
DO $$ DECLARE name text; BEGIN
  IF current_setting('server_version_num')::int < 180000 THEN RETURN; END IF;
  FOREACH name IN ARRAY ARRAY['template', 'template_revision'] LOOP
    PERFORM pg_restore_attribute_stats('schemaname', 'public', 'relname', name, 'attname', 'tenant_id',
      'inherited', false, 'null_frac', 0::real, 'avg_width', 16, 'n_distinct', 1::real);
  END LOOP;
END $$;
