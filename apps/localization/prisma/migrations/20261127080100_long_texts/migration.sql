-- plinth: no transaction
-- The bytes of long texts are counted for their quota in this index; short ones are not in it.
CREATE INDEX CONCURRENTLY override_of_long_text ON override (tenant_id) WHERE octet_length(value) > 1024;
