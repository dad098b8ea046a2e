-- How many rows an undo was refused: whoever may change them can begin it again.
ALTER TABLE import_undo ADD COLUMN refused_rows integer NOT NULL DEFAULT 0;
