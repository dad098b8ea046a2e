-- Changes without an operation, which all new ones are, need no place in this index, and no look-up by another column
-- can take it for its own (ADR 0022).
ALTER TABLE setting_change DROP CONSTRAINT setting_change_tenant_id_operation_id_name_key;
CREATE UNIQUE INDEX setting_change_operation_id ON setting_change (tenant_id, operation_id, name)
  WHERE operation_id IS NOT NULL;
