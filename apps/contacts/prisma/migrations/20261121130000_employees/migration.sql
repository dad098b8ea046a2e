SET lock_timeout = '2s';

-- A filter may compare it with numbers that an integer cannot hold.
ALTER TABLE company ALTER COLUMN employees TYPE bigint;
