-- plinth: no transaction
-- The same for requests, whose names are stored twice.
CREATE INDEX CONCURRENTLY long_approval ON approval (tenant_id)
  WHERE 2 * (octet_length(entity_type) + octet_length(entity_id)) + octet_length(coalesce(comment, '')) > 1024;
