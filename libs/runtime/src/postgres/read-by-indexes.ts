import type { RawStatements } from './postgres';
import { send } from './raw-statements';

const SWITCHED_OFF = [
  'enable_seqscan',
  'enable_bitmapscan',
  'enable_sort',
  'enable_incremental_sort',
  'enable_hashjoin',
  'enable_mergejoin',
];
const STATEMENT = `SELECT ${SWITCHED_OFF.map((setting) => `set_config('${setting}', 'off', true)`).join(', ')},
  set_config('plan_cache_mode', 'force_generic_plan', true)`;

/**
 * Has the statements of a transaction read tables by the index that has the order or the key they ask for, whatever the
 * statistics say (ADR 0022). Of a table that fills and empties all the time, and of rows behind a policy, Postgres
 * expects next to nothing, and would read all of it again and again. Since there is one way left, it is planned once on
 * each connection; a statement that runs in such a transaction runs in no other.
 */
export const readByIndexes = (tx: RawStatements): Promise<void> => send(tx, STATEMENT);
