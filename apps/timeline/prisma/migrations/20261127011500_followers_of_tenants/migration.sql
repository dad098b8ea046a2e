-- plinth: no transaction
-- Followers are counted for their quota in this index, some bytes each: the key of one has up to two kilobytes of ids that
-- anybody may make up, and too many of those could not be counted within the time of a statement.
CREATE INDEX CONCURRENTLY follower_of_tenant ON follower (tenant_id);
