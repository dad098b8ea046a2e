-- Of a tenant all rows are expected, so that a plan finds a row by its whole key however few rows there were when it was
-- made. `ANALYZE` leaves that alone, since it collects no statistics about the tenants of these tables (ADR 0022).
DO $$ DECLARE name text; BEGIN
  IF current_setting('server_version_num')::int < 180000 THEN RETURN; END IF;
  FOREACH name IN ARRAY ARRAY['entry', 'attachment', 'notification'] LOOP
    PERFORM pg_restore_attribute_stats('schemaname', 'public', 'relname', name, 'attname', 'tenant_id',
      'inherited', false, 'null_frac', 0::real, 'avg_width', 16, 'n_distinct', 1::real);
  END LOOP;
END $$;
