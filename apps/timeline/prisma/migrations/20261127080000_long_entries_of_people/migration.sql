-- plinth: no transaction
-- The bytes of long entries that people wrote are counted for their quota in this index. Short ones are not in it, so that
-- it costs everyday writes nothing, and their bytes are bounded by their number.
CREATE INDEX CONCURRENTLY long_entry_of_people ON entry (tenant_id) WHERE entry_type <> 2 AND octet_length(body) > 1024;
