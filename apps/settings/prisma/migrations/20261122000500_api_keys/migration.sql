-- API keys of programs. The key itself is nowhere: only its hash, and its beginning to recognize it by.
CREATE TABLE api_key (
  tenant_id uuid NOT NULL,
  id uuid NOT NULL,
  key_hash text NOT NULL,
  hint text NOT NULL,
  name text NOT NULL,
  permissions text[] NOT NULL,
  created_at timestamptz(3) NOT NULL,
  created_by text NOT NULL,
  created_by_name text NOT NULL,
  expires_at timestamptz(3) NOT NULL,
  last_used_at timestamptz(3),
  revoked_at timestamptz(3),
  revoked_by text,
  PRIMARY KEY (tenant_id, id),
  CHECK ((revoked_at IS NULL) = (revoked_by IS NULL))
);
CREATE INDEX api_key_hash ON api_key (key_hash);
CREATE INDEX api_key_created ON api_key (tenant_id, created_at, id);

ALTER TABLE api_key ENABLE ROW LEVEL SECURITY;
ALTER TABLE api_key FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON api_key
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);
-- A key is found before its tenant is known.
CREATE POLICY platform ON api_key USING (current_setting('plinth.scope', true) = 'platform');
