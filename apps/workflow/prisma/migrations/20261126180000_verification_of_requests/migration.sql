-- From when on the owner of its entity is asked whether it has that still, as after it published that it has it no more.
-- Null where nothing says so.
ALTER TABLE approval ADD COLUMN verify_at timestamptz(3);
