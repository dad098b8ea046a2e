/**
 * Always holds in a statement, and gives its transaction a number before the statement takes the first value of a sequence.
 * By these numbers it is known when everything up to a value is committed; without this the transaction gets its number
 * with its first row, and may wait between the two.
 */
export const TRANSACTION_IS_NUMBERED = 'pg_current_xact_id() IS NOT NULL';
