-- An import records its job before it stores keys, and the job stays for days after the last of them. Looking for it again
-- for each key was most of what storing them takes. They still go with their job.
ALTER TABLE exchange_key DROP CONSTRAINT exchange_key_tenant_id_job_id_fkey;
CREATE POLICY platform ON exchange_key USING (current_setting('plinth.scope', true) = 'platform');

CREATE FUNCTION exchange_delete_keys() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM exchange_key AS key USING deleted
  WHERE key.tenant_id = deleted.tenant_id AND key.job_id = deleted.job_id;
  RETURN NULL;
END $$;
CREATE TRIGGER exchange_job_deleted AFTER DELETE ON exchange_job REFERENCING OLD TABLE AS deleted
  FOR EACH STATEMENT EXECUTE FUNCTION exchange_delete_keys();
