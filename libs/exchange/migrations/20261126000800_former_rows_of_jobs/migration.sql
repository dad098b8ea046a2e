-- Former rows are deleted with the writes of their job, which name them.
DROP INDEX exchange_former_kept;
