-- About how many bytes the import ledger keeps of a batch, its former rows and keys included: what a tenant has of them is
-- added up of its batches, where counting the rows themselves would take minutes.
ALTER TABLE exchange_batch ADD COLUMN kept_bytes bigint NOT NULL DEFAULT 0;
