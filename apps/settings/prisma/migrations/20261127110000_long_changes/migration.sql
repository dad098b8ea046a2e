-- plinth: no transaction
-- The bytes of changes with long values are counted for their quota in this index; short ones are not in it.
CREATE INDEX CONCURRENTLY setting_change_of_long_values ON setting_change (tenant_id)
  WHERE octet_length(coalesce(previous_value, '')) + octet_length(coalesce(new_value, '')) > 1024;
