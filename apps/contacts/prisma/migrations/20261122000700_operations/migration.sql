-- Rows without an operation, which all imported ones are, need no place in these indexes, and no look-up by another
-- column can take them for its own (ADR 0022).
ALTER TABLE company DROP CONSTRAINT company_operation_id;
CREATE UNIQUE INDEX company_operation_id ON company (tenant_id, operation_id) WHERE operation_id IS NOT NULL;
ALTER TABLE contact DROP CONSTRAINT contact_operation_id;
CREATE UNIQUE INDEX contact_operation_id ON contact (tenant_id, operation_id) WHERE operation_id IS NOT NULL;
