-- plinth: no transaction
-- Followers are counted for their quota in this index, some bytes each: the key of one has up to two kilobytes of ids that
-- anybody may make up, and too many of those could not be counted within the time of a statement. All are in it, but only
-- the count asks for them so: whatever else names the tenant finds its followers by their key (ADR 0022).
CREATE INDEX CONCURRENTLY follower_of_tenant ON follower (tenant_id) WHERE since > '-infinity';
