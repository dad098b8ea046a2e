-- plinth: no transaction
-- The bytes of long texts are counted for their quota in this index; short ones are not in it. Their names are in three
-- more indexes, so that they count too.
CREATE INDEX CONCURRENTLY override_of_long_text ON override (tenant_id)
  WHERE octet_length(resource_name) + octet_length(key) + octet_length(value) > 1024;
