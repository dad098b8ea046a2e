-- The history keeps of a long value its beginning.
SELECT set_config('plinth.scope', 'platform', true);
UPDATE setting_change SET
  previous_value = CASE WHEN octet_length(previous_value) > 1024 THEN left(previous_value, 256) || '…' ELSE previous_value END,
  new_value = CASE WHEN octet_length(new_value) > 1024 THEN left(new_value, 256) || '…' ELSE new_value END
WHERE octet_length(previous_value) > 1024 OR octet_length(new_value) > 1024;
