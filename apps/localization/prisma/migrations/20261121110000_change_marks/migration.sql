SET lock_timeout = '2s';

-- A counter of changes is a lock that all writers of a tenant share, for as long as an import lasts. Marks are not:
-- each change puts its own and takes away those that nobody holds.
CREATE TABLE override_mark (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  PRIMARY KEY (tenant_id, id)
);

ALTER TABLE override_mark ENABLE ROW LEVEL SECURITY;
ALTER TABLE override_mark FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON override_mark
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

DROP TABLE override_version;
