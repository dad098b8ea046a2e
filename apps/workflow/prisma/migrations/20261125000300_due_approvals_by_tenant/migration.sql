-- Tenants take turns at what is due: each finds its own, however many others have.
CREATE INDEX approval_due_of_tenant ON approval (tenant_id, next_step_at, id)
  WHERE "end" IS NULL AND next_step_at IS NOT NULL;
