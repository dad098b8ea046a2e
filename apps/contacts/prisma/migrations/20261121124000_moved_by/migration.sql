-- Who made a move, so that a repeated one can say so.
ALTER TABLE contact_move ADD COLUMN moved_by text NOT NULL DEFAULT '';
