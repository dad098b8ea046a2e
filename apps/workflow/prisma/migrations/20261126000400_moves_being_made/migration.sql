-- Until then the owner may be making the move that the entity's open request asks for, and nothing else ends the request.
ALTER TABLE entity ADD COLUMN moving_until timestamptz(3);
