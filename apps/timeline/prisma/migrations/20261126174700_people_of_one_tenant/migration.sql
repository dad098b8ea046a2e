-- People are read and written by their tenant alone again.
DROP POLICY platform ON person;
DROP POLICY platform ON person_suffix;
