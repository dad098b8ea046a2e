import type { RawStatements } from './postgres';
import { send } from './raw-statements';

/**
 * Has the statements of a transaction that only reads see the database as it is at the first one of them, which comes
 * behind this: what they read is shown together, such as the rows of a page and how many there are.
 */
export const readAtOneInstant = (tx: RawStatements): Promise<void> =>
  send(tx, 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
