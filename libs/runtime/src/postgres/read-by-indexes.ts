import type { Planning, RawStatements } from './postgres';
import { send } from './raw-statements';

const SWITCHED_OFF = [
  'enable_seqscan',
  'enable_bitmapscan',
  'enable_sort',
  'enable_incremental_sort',
  'enable_hashjoin',
  'enable_mergejoin',
];
const switchOff = (planMode: string): string =>
  `SELECT ${SWITCHED_OFF.map((setting) => `set_config('${setting}', 'off', true)`).join(', ')},
  set_config('plan_cache_mode', '${planMode}', true)`;
const STATEMENTS: Readonly<Record<Planning, string>> = {
  once: switchOff('force_generic_plan'),
  'for-values': switchOff('force_custom_plan'),
};

/**
 * Has the statements of a transaction read tables by the index that has the order or the key they ask for, whatever the
 * statistics say (ADR 0022). Of a table that fills and empties all the time, and of rows behind a policy, Postgres
 * expects next to nothing, and would read all of it again and again. Where there is one way left, it is planned once on
 * each connection; a statement that runs in such a transaction runs in no other. Where two indexes begin alike, it is
 * planned for its values, since a plan that was made for few rows would take either.
 */
export const readByIndexes = (tx: RawStatements, planning: Planning = 'once'): Promise<void> =>
  send(tx, STATEMENTS[planning]);
