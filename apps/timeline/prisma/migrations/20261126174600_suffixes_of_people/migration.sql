-- The suffixes of those who are there. Triggers keep those of all who are added or renamed meanwhile; a suffix of a name
-- that somebody had until then finds nobody.
SELECT set_config('plinth.scope', 'platform', true);
INSERT INTO person_suffix (tenant_id, rank, suffix, user_id)
SELECT tenant_id, named.rank, named.suffix, user_id
FROM person CROSS JOIN LATERAL person_suffixes(user_id, display_name) AS named
ON CONFLICT DO NOTHING;
SELECT set_config('plinth.scope', '', true);
