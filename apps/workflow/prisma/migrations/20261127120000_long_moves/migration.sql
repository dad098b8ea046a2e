-- plinth: no transaction
-- The bytes of moves with long comments or names are counted for their quota in this index; others are not in it. Of a new
-- entity the names are stored four times, so that they count as often.
CREATE INDEX CONCURRENTLY long_move ON move (tenant_id)
  WHERE 4 * (octet_length(entity_type) + octet_length(entity_id)) + octet_length(coalesce(comment, '')) > 1024;
