-- Where the event of an owner's move stands among those of the owner, which says what was first where clocks differ. Null
-- until the event came, and for moves that were recorded before.
ALTER TABLE move ADD COLUMN owner_sequence bigint;
