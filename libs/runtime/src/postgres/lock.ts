import type { RawStatements } from './postgres';
import { send } from './raw-statements';

/** Has the statements behind it wait until no other transaction has locked this key, and locks it until the end of this one. */
export async function lockUntilCommit(tx: RawStatements, key: string): Promise<void> {
  await send(tx, 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', key);
}

/** The same within a wider key: those who lock the narrower ones work side by side, and who locks the wider one waits for them all. */
export async function lockWithinUntilCommit(
  tx: RawStatements,
  wider: string,
  narrower: string,
): Promise<void> {
  await send(
    tx,
    `SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 0)), pg_advisory_xact_lock(hashtextextended($2, 0))`,
    wider,
    narrower,
  );
}
