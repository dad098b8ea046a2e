-- How many bytes of files a tenant has stored: each upload summed all of their jobs for it, under a lock. The table is kept
-- by every statement that stores or removes a file, also of a version before.
CREATE TABLE stored_file_usage (
  tenant_id uuid PRIMARY KEY,
  bytes bigint NOT NULL
);
ALTER TABLE stored_file_usage ENABLE ROW LEVEL SECURITY;
ALTER TABLE stored_file_usage FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON stored_file_usage
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);
CREATE POLICY platform ON stored_file_usage USING (current_setting('plinth.scope', true) = 'platform');

CREATE FUNCTION stored_file_bytes(file_size_bytes bigint, file_removed_at timestamptz) RETURNS bigint LANGUAGE sql IMMUTABLE
  RETURN CASE WHEN file_removed_at IS NULL THEN coalesce(file_size_bytes, 0) ELSE 0 END;

-- In the order of tenants, so that no two transactions wait for each other in a circle.
CREATE FUNCTION count_stored_files() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO stored_file_usage AS counted (tenant_id, bytes)
    SELECT tenant_id, sum(stored_file_bytes(file_size_bytes, file_removed_at)) FROM added
    GROUP BY tenant_id HAVING sum(stored_file_bytes(file_size_bytes, file_removed_at)) <> 0 ORDER BY tenant_id
    ON CONFLICT (tenant_id) DO UPDATE SET bytes = counted.bytes + EXCLUDED.bytes;
  ELSE
    INSERT INTO stored_file_usage AS counted (tenant_id, bytes)
    SELECT tenant_id, -sum(stored_file_bytes(file_size_bytes, file_removed_at)) FROM removed
    GROUP BY tenant_id HAVING sum(stored_file_bytes(file_size_bytes, file_removed_at)) <> 0 ORDER BY tenant_id
    ON CONFLICT (tenant_id) DO UPDATE SET bytes = counted.bytes + EXCLUDED.bytes;
  END IF;
  RETURN NULL;
END $$;

-- For each row, because a job is written very often while it runs, and its file changes twice.
CREATE FUNCTION count_changed_file() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO stored_file_usage AS counted (tenant_id, bytes)
  VALUES (NEW.tenant_id, stored_file_bytes(NEW.file_size_bytes, NEW.file_removed_at)
    - stored_file_bytes(OLD.file_size_bytes, OLD.file_removed_at))
  ON CONFLICT (tenant_id) DO UPDATE SET bytes = counted.bytes + EXCLUDED.bytes;
  RETURN NULL;
END $$;

-- Triggers first: they keep out who writes jobs until what is there is counted.
CREATE TRIGGER import_file_added AFTER INSERT ON import_job REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION count_stored_files();
CREATE TRIGGER import_file_changed AFTER UPDATE OF file_size_bytes, file_removed_at ON import_job FOR EACH ROW
  WHEN (stored_file_bytes(OLD.file_size_bytes, OLD.file_removed_at)
    <> stored_file_bytes(NEW.file_size_bytes, NEW.file_removed_at)) EXECUTE FUNCTION count_changed_file();
CREATE TRIGGER import_file_deleted AFTER DELETE ON import_job REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION count_stored_files();
CREATE TRIGGER export_file_added AFTER INSERT ON export_job REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION count_stored_files();
CREATE TRIGGER export_file_changed AFTER UPDATE OF file_size_bytes, file_removed_at ON export_job FOR EACH ROW
  WHEN (stored_file_bytes(OLD.file_size_bytes, OLD.file_removed_at)
    <> stored_file_bytes(NEW.file_size_bytes, NEW.file_removed_at)) EXECUTE FUNCTION count_changed_file();
CREATE TRIGGER export_file_deleted AFTER DELETE ON export_job REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION count_stored_files();
SELECT set_config('plinth.scope', 'platform', true);
INSERT INTO stored_file_usage (tenant_id, bytes)
SELECT tenant_id, sum(bytes) FROM (
  SELECT tenant_id, file_size_bytes AS bytes FROM import_job WHERE file_removed_at IS NULL
  UNION ALL
  SELECT tenant_id, file_size_bytes FROM export_job WHERE file_removed_at IS NULL AND file_size_bytes IS NOT NULL
) AS stored GROUP BY tenant_id;
SELECT set_config('plinth.scope', '', true);
