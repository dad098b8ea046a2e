-- Postgres took this index for look-ups by key where it had no statistics, and read all entities of a type in it
-- (ADR 0022). It also had to be written with each transition, whose row can stay on its page now.
DROP INDEX entity_in_state;
