import type { BatchContext } from './definition';

/** What a batch wrote. */
export interface WriteNote {
  /** The (sub)transactions of its statements. */
  transactions: Set<string>;
  inserted: string[];
  updated: string[];
}

/** Notes what a batch wrote, for whoever undoes its job. */
export async function noteWrite(
  { transactions, inserted, updated }: WriteNote,
  { connection, caller, jobId }: BatchContext,
): Promise<void> {
  await connection.query(
    `INSERT INTO exchange_write (tenant_id, job_id, transactions, inserted, updated)
     VALUES ($1, $2, $3::text[] || pg_current_xact_id()::xid::text, $4, $5)`,
    [caller.tenantId, jobId, [...transactions], packIds(inserted), packIds(updated)],
  );
}

/** Ids as 16 bytes each, which Postgres takes without looking at them (ADR 0018). */
const packIds = (ids: readonly string[]): Buffer => Buffer.from(ids.join('').replaceAll('-', ''), 'hex');

const ID = /(.{8})(.{4})(.{4})(.{4})(.{12})/g;

export const unpackIds = (bytes: Buffer): string[] =>
  Array.from(bytes.toString('hex').matchAll(ID), ([, ...parts]) => parts.join('-'));
