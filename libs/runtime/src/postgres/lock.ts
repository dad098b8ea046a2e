import type { RawStatements } from './postgres';
import { send } from './raw-statements';

/** Has the statements behind it wait until no other transaction has locked this key, and locks it until the end of this one. */
export async function lockUntilCommit(tx: RawStatements, key: string): Promise<void> {
  await send(tx, 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', key);
}

/**
 * The same within wider keys, the widest first: those who lock narrower ones work side by side, and who locks a wider one
 * waits for them all.
 */
export async function lockWithinUntilCommit(
  tx: RawStatements,
  wider: readonly string[],
  narrower: string,
): Promise<void> {
  const shared = wider.map((_, index) => `pg_advisory_xact_lock_shared(hashtextextended($${index + 1}, 0))`);
  const own = `pg_advisory_xact_lock(hashtextextended($${wider.length + 1}, 0))`;
  await send(tx, `SELECT ${[...shared, own].join(', ')}`, ...wider, narrower);
}
