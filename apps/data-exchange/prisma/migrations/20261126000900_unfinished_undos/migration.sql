-- plinth: no transaction
-- What the quota of jobs counts of undos, beside those of imports and exports.
CREATE INDEX CONCURRENTLY import_undo_unfinished ON import_undo (tenant_id) WHERE status = 'Undoing';
