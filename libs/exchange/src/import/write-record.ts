import type { BatchContext } from '../definition';

/** What a batch wrote: it is stored so that the batch can be undone. */
export interface WriteRecord {
  /** The (sub)transactions of its statements. */
  transactions: Set<string>;
  inserted: string[];
  updated: string[];
  /** About what the former rows of those that were updated take. */
  formerBytes: number;
}

/** Stores what a batch wrote, for the undo of its job. */
export async function recordWrite(
  { transactions, inserted, updated }: WriteRecord,
  { connection, caller, jobId }: BatchContext,
): Promise<void> {
  await connection.query(
    `INSERT INTO exchange_write (tenant_id, job_id, transactions, inserted, updated)
     VALUES ($1, $2, $3::text[] || pg_current_xact_id()::xid::text, $4, $5)`,
    [caller.tenantId, jobId, [...transactions], packIds(inserted), packIds(updated)],
  );
}

/** Ids as 16 bytes each, which Postgres stores without parsing them (ADR 0018). */
const packIds = (ids: readonly string[]): Buffer => Buffer.from(ids.join('').replaceAll('-', ''), 'hex');

const ID = /(.{8})(.{4})(.{4})(.{4})(.{12})/g;

/** The ids of a stored record. */
export const unpackIds = (bytes: Buffer): string[] =>
  Array.from(bytes.toString('hex').matchAll(ID), ([, ...parts]) => parts.join('-'));
