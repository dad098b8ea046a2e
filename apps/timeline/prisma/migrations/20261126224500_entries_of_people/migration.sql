-- plinth: no transaction
-- What people wrote is counted for its quota in this index. What the system notes is not in it and not counted, however
-- much it is, so that it costs its writes nothing.
CREATE INDEX CONCURRENTLY entry_of_people ON entry (tenant_id) WHERE entry_type <> 2;
