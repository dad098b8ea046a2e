-- The body of the request that executed an operation, so that another one is not taken for its retry (run-once.ts). Those
-- of versions before have none, and are compared with nothing.
ALTER TABLE executed_operation ADD COLUMN body_hash text;
