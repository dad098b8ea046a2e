-- Moves that no owner made, which are most of them, need no place in this index.
ALTER TABLE move DROP CONSTRAINT move_tenant_id_owner_move_id_key;
CREATE UNIQUE INDEX move_owner_move_id ON move (tenant_id, owner_move_id) WHERE owner_move_id IS NOT NULL;
