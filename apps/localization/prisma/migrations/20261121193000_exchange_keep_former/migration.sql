SET lock_timeout = '2s';

-- Keeps a row as it is before a job updates it. It stands in the condition of the update, behind the cheap ones: so it is
-- asked of rows that are updated, and again of a row that somebody changed while the update waited for them.
CREATE FUNCTION exchange_keep_former(
  tenant uuid, row_id uuid, job uuid, file_row integer, row_now jsonb, written_by text
) RETURNS boolean LANGUAGE plpgsql COST 10000 AS $$
BEGIN
  INSERT INTO exchange_former AS f (tenant_id, row_id, job_id, import_row, former, former_transaction)
  VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT ON CONSTRAINT exchange_former_pkey
  DO UPDATE SET former = EXCLUDED.former, former_transaction = EXCLUDED.former_transaction;
  RETURN true;
END $$;
