import type { RawStatements } from './postgres';
import { send } from './raw-statements';

/**
 * Has the transaction commit before it is on disk, which saves most of the time of a small one. When Postgres itself
 * dies within a second after that, it is as if it had not happened. So it is for what is done again in that case, and
 * what others know of it must be on disk first; see `keepWhatWasCommitted`.
 */
export const commitWithoutWaiting = (tx: RawStatements): Promise<void> =>
  send(tx, 'SET LOCAL synchronous_commit = off');

/**
 * Has everything that was committed before be on disk when this transaction ends. A transaction that only reads would
 * not wait for it, so this one writes a message to the log that nobody reads.
 */
export const keepWhatWasCommitted = (tx: RawStatements): Promise<void> =>
  send(tx, `SELECT pg_logical_emit_message(true, 'plinth', '')`);
