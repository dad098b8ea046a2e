-- plinth: no transaction
-- The same for the comments of votes.
CREATE INDEX CONCURRENTLY approval_vote_with_long_comment ON approval_vote (tenant_id) WHERE octet_length(comment) > 1024;
