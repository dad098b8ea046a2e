-- The names of people from each character on, so that those that hold a text are found in an index by what they
-- begin with: every search read all people of its tenant (ADR 0047). Triggers keep it for every version that writes people.
CREATE TABLE person_suffix (
  tenant_id uuid NOT NULL,
  -- What a person is found by: 0 a whole name, 1 a name from a later word on, 2 from within a word on, 3 a whole id.
  rank smallint NOT NULL,
  suffix text COLLATE "C" NOT NULL,
  user_id text NOT NULL,
  PRIMARY KEY (tenant_id, rank, suffix, user_id)
);
ALTER TABLE person_suffix ENABLE ROW LEVEL SECURITY;
ALTER TABLE person_suffix FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant ON person_suffix
  USING (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid)
  WITH CHECK (tenant_id = NULLIF(current_setting('plinth.tenant_id', true), '')::uuid);

-- A long name has so many suffixes that only its first characters count.
CREATE FUNCTION searched_name(display_name text) RETURNS text LANGUAGE sql IMMUTABLE
  RETURN left(lower(display_name), 100);

-- No search begins with a blank.
CREATE FUNCTION person_suffixes(user_id text, display_name text)
RETURNS TABLE (rank smallint, suffix text) LANGUAGE sql IMMUTABLE ROWS 16 AS $$
  SELECT CASE WHEN position = 1 THEN 0 WHEN substr(name, position - 1, 1) = ' ' THEN 1 ELSE 2 END::smallint,
    substr(name, position)
  FROM (SELECT searched_name(display_name) AS name) AS searched, generate_series(1, length(name)) AS position
  WHERE position = 1 OR substr(name, position, 1) <> ' '
  UNION ALL
  SELECT 3::smallint, lower(user_id)
$$;

-- What a former and a new name have in common stays: the next migration may just insert it, and who is renamed would wait
-- for its end. By the key alone, also where statements were planned while there were few people.
CREATE FUNCTION keep_person_suffixes() RETURNS trigger LANGUAGE plpgsql
SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
  former record;
BEGIN
  IF TG_OP <> 'INSERT' THEN
    FOR former IN
      SELECT * FROM person_suffixes(OLD.user_id, OLD.display_name)
      EXCEPT SELECT * FROM person_suffixes(NEW.user_id, NEW.display_name)
    LOOP
      DELETE FROM person_suffix
      WHERE tenant_id = OLD.tenant_id AND rank = former.rank AND suffix = former.suffix AND user_id = OLD.user_id;
    END LOOP;
  END IF;
  IF TG_OP <> 'DELETE' THEN
    INSERT INTO person_suffix (tenant_id, rank, suffix, user_id)
    SELECT NEW.tenant_id, rank, suffix, NEW.user_id FROM (
      SELECT * FROM person_suffixes(NEW.user_id, NEW.display_name)
      EXCEPT SELECT * FROM person_suffixes(OLD.user_id, OLD.display_name)
    ) AS added
    ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER person_added_or_deleted AFTER INSERT OR DELETE ON person
  FOR EACH ROW EXECUTE FUNCTION keep_person_suffixes();
CREATE TRIGGER person_renamed AFTER UPDATE OF display_name ON person
  FOR EACH ROW WHEN (OLD.display_name <> NEW.display_name) EXECUTE FUNCTION keep_person_suffixes();

-- For the next migration, which keeps nobody from writing people meanwhile.
CREATE POLICY platform ON person FOR SELECT USING (current_setting('plinth.scope', true) = 'platform');
CREATE POLICY platform ON person_suffix USING (current_setting('plinth.scope', true) = 'platform');
