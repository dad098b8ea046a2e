import type { RawStatements } from './postgres';
import { send } from './raw-statements';

/** Has the statements behind it wait until no other transaction has locked this key, and locks it until the end of this one. */
export async function lockUntilCommit(tx: RawStatements, key: string): Promise<void> {
  await send(tx, 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', key);
}

/** Has the statements behind it wait until no other transaction has locked this key, and keeps those out that want to, until the end of this one. */
export async function shareLockUntilCommit(tx: RawStatements, key: string): Promise<void> {
  await send(tx, 'SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 0))', key);
}
