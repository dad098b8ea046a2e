-- A file counts 4 kB of the quota at least, as one that is attached to an entry does: it takes a record and a place in the
-- store of files too. Who stores or removes a file waits until those that are there are counted so.
LOCK TABLE import_job, export_job IN SHARE ROW EXCLUSIVE MODE;
CREATE OR REPLACE FUNCTION stored_file_bytes(file_size_bytes bigint, file_removed_at timestamptz) RETURNS bigint LANGUAGE sql IMMUTABLE
  RETURN CASE WHEN file_removed_at IS NULL AND file_size_bytes IS NOT NULL THEN greatest(file_size_bytes, 4096) ELSE 0 END;

SELECT set_config('plinth.scope', 'platform', true);
UPDATE stored_file_usage AS counted SET bytes = counted.bytes + small.bytes FROM (
  SELECT tenant_id, sum(4096 - file_size_bytes) AS bytes FROM (
    SELECT tenant_id, file_size_bytes FROM import_job WHERE file_removed_at IS NULL AND file_size_bytes < 4096
    UNION ALL
    SELECT tenant_id, file_size_bytes FROM export_job WHERE file_removed_at IS NULL AND file_size_bytes < 4096
  ) AS small_file GROUP BY tenant_id
) AS small WHERE small.tenant_id = counted.tenant_id;
SELECT set_config('plinth.scope', '', true);
