-- Operations that were executed, each with the result of its effect, written in the transaction of the effect (run-once.ts).
CREATE TABLE executed_operation (
  tenant_id uuid NOT NULL,
  operation_id text NOT NULL,
  result jsonb NOT NULL DEFAULT 'null',
  executed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, operation_id)
);
CREATE INDEX executed_operation_age ON executed_operation (executed_at);

ALTER TABLE executed_operation ENABLE ROW LEVEL SECURITY;
ALTER TABLE executed_operation FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON executed_operation
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);
CREATE POLICY platform ON executed_operation USING (current_setting('plinth.scope', true) = 'platform');
