-- A fact says in which trace it happened, so that what others do about it is seen in the same one.
ALTER TABLE outbox ADD COLUMN traceparent text;
