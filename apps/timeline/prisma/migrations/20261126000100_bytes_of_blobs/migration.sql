-- plinth: no transaction
-- Each upload sums the files of its tenant: from this index, and not from all of their rows.
CREATE INDEX CONCURRENTLY blob_bytes ON blob (tenant_id) INCLUDE (size_bytes) WHERE NOT is_removed;
