import { createHash } from 'node:crypto';
import { hasKey, type Conversion, type ConvertedRow } from './convert';
import type { BatchContext } from './definition';

/** A key as 32 hex digits. */
export const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex').slice(0, 32);

interface KeyedRow {
  rowNumber: number;
  key: string;
}

/** The rows of a batch, told apart by whether their key stands in an earlier row of the file. */
export interface SortedOut {
  unique: ConvertedRow[];
  repeated: { row: ConvertedRow; first: number }[];
}

/** By row number, the first row of the file with the same key, as whoever sends the rows found out. */
export function sortOutKnown(
  { rows }: Conversion,
  duplicates: readonly (readonly [number, number])[],
): SortedOut {
  const firstByRow = new Map(duplicates);
  const sorted: SortedOut = { unique: [], repeated: [] };
  for (const row of rows) {
    const first = firstByRow.get(row.rowNumber);
    if (first === undefined) sorted.unique.push(row);
    else sorted.repeated.push({ row, first });
  }
  return sorted;
}

/**
 * Finds repeated keys where batches come in the order of the file: inside the batch, among the keys of rows that were
 * not written, and for those also among the rows that were.
 */
export async function sortOut(
  conversion: Conversion,
  context: BatchContext,
  known: {
    /** Whether any row before was not written. */
    hasUnwrittenKeys: boolean;
    findWritten(rows: readonly ConvertedRow[], context: BatchContext): Promise<Map<string, number>>;
  },
): Promise<SortedOut> {
  const firstByKey = new Map<string, number>();
  for (const { rowNumber, key } of [...conversion.faulty, ...conversion.rows].filter(hasKey)) {
    const first = firstByKey.get(key);
    if (first === undefined || rowNumber < first) firstByKey.set(key, rowNumber);
  }
  if (known.hasUnwrittenKeys) {
    const unwritten = await recallKeys(context, [...firstByKey.keys()]);
    for (const [key, rowNumber] of unwritten) firstByKey.set(key, rowNumber);
  }
  const isFirst = (row: ConvertedRow) => firstByKey.get(row.key!) === row.rowNumber;
  const repeated = conversion.rows.filter((row) => !isFirst(row));
  const written =
    repeated.length > 0 ? await known.findWritten(repeated, context) : new Map<string, number>();
  return {
    unique: conversion.rows.filter(isFirst),
    repeated: repeated.map((row) => ({
      row,
      first: Math.min(firstByKey.get(row.key!)!, written.get(row.key!) ?? Infinity),
    })),
  };
}

/** Keeps the keys of rows that are not in the table; of several rows with one key the first one counts. */
export async function rememberKeys(
  { connection, caller, jobId }: BatchContext,
  rows: readonly KeyedRow[],
): Promise<void> {
  await connection.query(
    `INSERT INTO exchange_key (tenant_id, job_id, key_hash, row_number)
     SELECT $1, $2, * FROM unnest($3::uuid[], $4::int[]) AS k (key_hash, row_number)
     ORDER BY row_number ON CONFLICT DO NOTHING`,
    [caller.tenantId, jobId, rows.map(({ key }) => hashOf(key)), rows.map(({ rowNumber }) => rowNumber)],
  );
}

async function recallKeys(
  { connection, caller, jobId }: BatchContext,
  keys: readonly string[],
): Promise<Map<string, number>> {
  const keysByHash = new Map(keys.map((key) => [hashOf(key), key]));
  const { rows } = await connection.query<{ key_hash: string; row_number: number }>(
    'SELECT key_hash, row_number FROM exchange_key WHERE tenant_id = $1 AND job_id = $2 AND key_hash = ANY($3::uuid[])',
    [caller.tenantId, jobId, [...keysByHash.keys()]],
  );
  return new Map(
    rows.map(({ key_hash, row_number }) => [keysByHash.get(key_hash.replaceAll('-', ''))!, row_number]),
  );
}
