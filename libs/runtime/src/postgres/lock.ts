import type { RawStatements } from './postgres';

/** Waits until no other transaction has locked this key, and locks it until the end of this one. */
export async function lockUntilCommit(tx: RawStatements, key: string): Promise<void> {
  await tx.$executeRawUnsafe('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', key);
}

/** Waits until no other transaction has locked this key, and keeps those out that want to, until the end of this one. */
export async function shareLockUntilCommit(tx: RawStatements, key: string): Promise<void> {
  await tx.$executeRawUnsafe('SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 0))', key);
}
