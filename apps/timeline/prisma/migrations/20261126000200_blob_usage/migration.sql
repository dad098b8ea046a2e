-- How much of its quota the files of a tenant take: each upload summed all of their records for it, under a lock. An index
-- for that sum was taken by plans of other statements. The table is kept by every statement that changes files, also of a
-- version before.
CREATE TABLE blob_usage (
  tenant_id uuid PRIMARY KEY,
  bytes bigint NOT NULL
);
ALTER TABLE blob_usage ENABLE ROW LEVEL SECURITY;
ALTER TABLE blob_usage FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON blob_usage
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);
CREATE POLICY platform ON blob_usage USING (current_setting('plinth.scope', true) = 'platform');

-- What a file takes: 4 kB at least, for its record, its attachments and its place in the store of files.
CREATE FUNCTION counted_blob_bytes(size_bytes bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
  RETURN greatest(size_bytes, 4096);

-- In the order of tenants, so that no two transactions wait for each other in a circle.
CREATE FUNCTION count_blobs() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO blob_usage AS counted (tenant_id, bytes)
    SELECT tenant_id, sum(counted_blob_bytes(size_bytes)) FROM added WHERE NOT is_removed
    GROUP BY tenant_id ORDER BY tenant_id
    ON CONFLICT (tenant_id) DO UPDATE SET bytes = counted.bytes + EXCLUDED.bytes;
  ELSIF TG_OP = 'UPDATE' THEN
    INSERT INTO blob_usage AS counted (tenant_id, bytes)
    SELECT tenant_id, sum(bytes) FROM (
      SELECT tenant_id, counted_blob_bytes(size_bytes) AS bytes FROM added WHERE NOT is_removed
      UNION ALL
      SELECT tenant_id, -counted_blob_bytes(size_bytes) FROM removed WHERE NOT is_removed
    ) AS changed
    GROUP BY tenant_id HAVING sum(bytes) <> 0 ORDER BY tenant_id
    ON CONFLICT (tenant_id) DO UPDATE SET bytes = counted.bytes + EXCLUDED.bytes;
  ELSE
    INSERT INTO blob_usage AS counted (tenant_id, bytes)
    SELECT tenant_id, -sum(counted_blob_bytes(size_bytes)) FROM removed WHERE NOT is_removed
    GROUP BY tenant_id ORDER BY tenant_id
    ON CONFLICT (tenant_id) DO UPDATE SET bytes = counted.bytes + EXCLUDED.bytes;
  END IF;
  RETURN NULL;
END $$;

-- Triggers first: they keep out who writes files until what is there is counted.
CREATE TRIGGER blob_added AFTER INSERT ON blob REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION count_blobs();
CREATE TRIGGER blob_changed AFTER UPDATE ON blob REFERENCING OLD TABLE AS removed NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION count_blobs();
CREATE TRIGGER blob_deleted AFTER DELETE ON blob REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION count_blobs();
SELECT set_config('plinth.scope', 'platform', true);
INSERT INTO blob_usage (tenant_id, bytes)
SELECT tenant_id, sum(counted_blob_bytes(size_bytes)) FROM blob WHERE NOT is_removed GROUP BY tenant_id;
SELECT set_config('plinth.scope', '', true);
