-- Files that are being stored and that no record refers to yet, so that those of a process that crashed before it stored
-- the record are found (unrecorded-blobs.ts). Only services that keep files have any.
CREATE TABLE unrecorded_blob (
  tenant_id uuid NOT NULL,
  key text NOT NULL,
  since timestamptz NOT NULL DEFAULT now(),
  -- It is being removed, and no record may refer to it any more.
  is_abandoned boolean NOT NULL DEFAULT false,
  PRIMARY KEY (tenant_id, key)
);

ALTER TABLE unrecorded_blob ENABLE ROW LEVEL SECURITY;
ALTER TABLE unrecorded_blob FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON unrecorded_blob
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);
CREATE POLICY platform ON unrecorded_blob USING (current_setting('plinth.scope', true) = 'platform');
