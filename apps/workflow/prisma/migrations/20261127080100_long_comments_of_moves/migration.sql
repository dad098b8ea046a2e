-- plinth: no transaction
-- The bytes of long comments are counted for their quota in this index; rows with short ones are not in it.
CREATE INDEX CONCURRENTLY move_with_long_comment ON move (tenant_id) WHERE octet_length(comment) > 1024;
