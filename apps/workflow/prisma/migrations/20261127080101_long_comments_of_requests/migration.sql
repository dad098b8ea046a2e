-- plinth: no transaction
-- The same for the comments of requests, which their rows have beside those of the history.
CREATE INDEX CONCURRENTLY approval_with_long_comment ON approval (tenant_id) WHERE octet_length(comment) > 1024;
