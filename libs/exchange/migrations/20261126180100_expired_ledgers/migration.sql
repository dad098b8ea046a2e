-- Whether the deletion of a ledger has begun, which takes several transactions: its import cannot be undone any more.
ALTER TABLE exchange_job ADD COLUMN is_expired boolean NOT NULL DEFAULT false;
