-- plinth: no transaction
-- Who had written a row before an undo restored it, however many imports of it were undone.
CREATE INDEX CONCURRENTLY exchange_former_restored ON exchange_former (tenant_id, row_id, restored_by_transaction)
  WHERE restored_by_transaction IS NOT NULL;
