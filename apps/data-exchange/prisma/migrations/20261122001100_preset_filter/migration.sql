-- Presets say which rows, too.
ALTER TABLE export_preset ADD COLUMN filter jsonb;
