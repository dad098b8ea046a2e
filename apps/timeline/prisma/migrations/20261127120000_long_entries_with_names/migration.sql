-- plinth: no transaction
-- The bytes of long entries that people wrote are counted for their quota in this index; short ones are not in it. Of a new
-- entity the names are stored five times, so that they count as often.
CREATE INDEX CONCURRENTLY long_entry_with_names_of_people ON entry (tenant_id)
  WHERE entry_type <> 2 AND 5 * (octet_length(entity_type) + octet_length(entity_id)) + octet_length(body) > 1024;
