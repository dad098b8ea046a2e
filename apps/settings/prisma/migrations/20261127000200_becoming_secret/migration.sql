-- Whether a release registered a setting as a secret whose values are not sealed yet, as imports that began before hold it:
-- no other import of it begins until they are. Versions before know nothing of it, and seal what they register.
ALTER TABLE setting_definition ADD COLUMN becomes_secret boolean NOT NULL DEFAULT false;
