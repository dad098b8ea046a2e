import type { BatchContext, ExchangeDefinition } from '../definition';
import { inIndexOrder, lookUp } from '../look-up';
import { rowErrorOf, rowNumbersOf, withoutRowsOf, type RowError } from '../row-error';
import { rowMessage } from '../row-message';
import { hasKey, type Conversion, type ConvertedRow } from './convert-rows';
import { mapInSteps, type InTurns } from '../in-turns';
import type { UnwrittenKeys } from './unwritten-keys';
import type { BatchWriter, WritingHooks } from './write-batch';

interface KeyedRow {
  rowNumber: number;
  key: string;
  keyHash?: string;
}

/** The keys of rows that were not written before, and how others are hashed for it. */
interface KeysBefore {
  unwrittenKeys: UnwrittenKeys;
  inTurns: InTurns;
}

/** A key that is looked for is remembered afterwards, so that it would be hashed twice. */
const hashInSteps = <Row extends Pick<KeyedRow, 'key' | 'keyHash'>>(
  rows: readonly Row[],
  unwrittenKeys: UnwrittenKeys,
): Generator<void, (Row & { keyHash: string })[]> =>
  mapInSteps(rows, (row) => {
    row.keyHash ??= unwrittenKeys.hashOf(row.key);
    return row as Row & { keyHash: string };
  });

/** The rows of a batch, separated by whether an earlier row of the file has the same key. */
export interface KeyCheck {
  unique: ConvertedRow[];
  repeated: { row: ConvertedRow; first: number }[];
}

/**
 * Separates the rows where the sender knows the first row of the file with the same key.
 * @param firstByKey of the batch, where keys were completed that the sender does not know
 */
export function separateKnownDuplicates(
  { rows }: Conversion,
  duplicates: readonly (readonly [number, number])[],
  firstByKey?: ReadonlyMap<string, number>,
): KeyCheck {
  const firstByRow = new Map(duplicates);
  const check: KeyCheck = { unique: [], repeated: [] };
  for (const row of rows) {
    const { rowNumber, key } = row;
    const first = firstByRow.get(rowNumber) ?? (key === undefined ? undefined : firstByKey?.get(key));
    if (first === undefined || first === rowNumber) check.unique.push(row);
    else check.repeated.push({ row, first });
  }
  return check;
}

/** The first row of a batch with each key, whether or not it will be written. */
export function firstRowsByKey({ rows, invalidRows }: Conversion): Map<string, number> {
  const firstByKey = new Map<string, number>();
  for (const { rowNumber, key } of invalidRows.length > 0 ? [...invalidRows, ...rows] : rows) {
    if (key === undefined) continue;
    const first = firstByKey.get(key);
    if (first === undefined || rowNumber < first) firstByKey.set(key, rowNumber);
  }
  return firstByKey;
}

/** Where the keys of earlier rows are. */
interface EarlierKeys extends KeysBefore, Pick<WritingHooks, 'beforeLookUps'> {
  writer: Pick<BatchWriter, 'findWritten'>;
}

/**
 * Finds duplicate keys where batches come in the order of the file: inside the batch, among the keys of rows that were
 * not written, and for those also among the rows that were.
 */
export async function findDuplicateKeys(
  { rows, invalidRows }: Conversion,
  firstByKey: Map<string, number>,
  context: BatchContext,
  { unwrittenKeys, inTurns, writer, beforeLookUps }: EarlierKeys,
): Promise<KeyCheck> {
  if (unwrittenKeys.isEmpty && invalidRows.length === 0 && firstByKey.size === rows.length)
    return { unique: rows, repeated: [] };
  const firstRows = [...invalidRows, ...rows]
    .filter(hasKey)
    .filter(({ key, rowNumber }) => firstByKey.get(key) === rowNumber);
  const earlier = await readUnwrittenKeys(context, firstRows, { unwrittenKeys, inTurns, beforeLookUps });
  for (const [key, rowNumber] of earlier) firstByKey.set(key, rowNumber);
  const isFirst = ({ key, rowNumber }: ConvertedRow) =>
    key === undefined || firstByKey.get(key) === rowNumber;
  const repeated = rows.filter((row) => !isFirst(row));
  if (repeated.length === 0) return { unique: rows, repeated: [] };
  await beforeLookUps?.();
  const written = await writer.findWritten(repeated, context);
  return {
    unique: rows.filter(isFirst),
    repeated: repeated.map((row) => ({
      row,
      first: Math.min(firstByKey.get(row.key!)!, written.get(row.key!) ?? Infinity),
    })),
  };
}

/** A text that is the key of no row, since those end with a NUL. */
const keyOfId = (id: string): string => `id ${id}`;

/** Stores which rows of the table were changed, where a dry-run has undone that. */
export const recordWrittenIds = (
  context: BatchContext,
  rows: readonly { rowNumber: number; id: string }[],
  keys: KeysBefore,
): Promise<void> =>
  recordUnwrittenKeys(
    context,
    rows.map(({ rowNumber, id }) => ({ rowNumber, key: keyOfId(id) })),
    keys,
  );

/** Separates also the rows that name one by its id which an earlier batch of a dry-run has changed. */
export async function findRepeatedIds(
  { unique, repeated }: KeyCheck,
  context: BatchContext,
  keys: KeysBefore,
): Promise<KeyCheck> {
  const named = unique.flatMap((row) => (row.id === null ? [] : [{ row, key: keyOfId(row.id) }]));
  const earlier = await readUnwrittenKeys(context, named, keys);
  if (earlier.size === 0) return { unique, repeated };
  const again = named.flatMap(({ row, key }) => {
    const first = earlier.get(key);
    return first === undefined ? [] : [{ row, first }];
  });
  const rows = new Set(again.map(({ row }) => row));
  return { unique: unique.filter((row) => !rows.has(row)), repeated: [...repeated, ...again] };
}

/** Remembers the keys of rows that are not in the table; of several rows with one key the first one counts. */
export async function recordUnwrittenKeys(
  context: BatchContext,
  rows: readonly KeyedRow[],
  { unwrittenKeys, inTurns }: KeysBefore,
): Promise<void> {
  const { recent } = unwrittenKeys;
  const hashed = await inTurns(hashInSteps(rows, unwrittenKeys));
  if (!recent)
    return storeUnwrittenKeys(
      context,
      hashed.map(({ keyHash, rowNumber }) => [keyHash, rowNumber]),
      unwrittenKeys,
    );
  for (const { keyHash, rowNumber } of hashed) recent.add(keyHash, rowNumber);
  for (const part of recent.takeIfMany()) await storeUnwrittenKeys(context, part, unwrittenKeys);
}

type HashedRow = [hash: string, rowNumber: number];

async function storeUnwrittenKeys(
  { connection, caller, jobId }: BatchContext,
  rows: readonly HashedRow[],
  unwrittenKeys: UnwrittenKeys,
): Promise<void> {
  await connection.query(
    `INSERT INTO exchange_key (tenant_id, job_id, key_hash, row_number)
     SELECT $1, $2, * FROM unnest($3::uuid[], $4::int[]) AS k (key_hash, row_number)
     ORDER BY key_hash, row_number ON CONFLICT DO NOTHING`,
    [caller.tenantId, jobId, rows.map(([hash]) => hash), rows.map(([, rowNumber]) => rowNumber)],
  );
  for (const [hash] of rows) unwrittenKeys.add(hash);
}

const UNWRITTEN_KEY = lookUp({
  table: 'exchange_key',
  columns: ['job_id', 'key_hash'],
  values: ['$2::uuid', 'wanted'],
  select: 't.key_hash, t.row_number',
});

async function readUnwrittenKeys(
  { connection, caller, jobId }: BatchContext,
  rows: readonly Pick<KeyedRow, 'key' | 'keyHash'>[],
  { unwrittenKeys, inTurns, beforeLookUps }: Omit<EarlierKeys, 'writer'>,
): Promise<Map<string, number>> {
  if (unwrittenKeys.isEmpty) return new Map();
  const found = new Map<string, number>();
  const keysByHash = new Map<string, string>();
  for (const { key, keyHash: hash } of await inTurns(hashInSteps(rows, unwrittenKeys))) {
    const recent = unwrittenKeys.recent?.rowOf(hash);
    if (recent !== undefined) found.set(key, recent);
    if (unwrittenKeys.mayHave(hash)) keysByHash.set(hash, key);
  }
  if (keysByHash.size === 0) return found;
  await beforeLookUps?.();
  const stored = await inIndexOrder(connection, () =>
    connection.query<{ key_hash: string; row_number: number }>(
      `SELECT found.* FROM unnest($3::uuid[]) AS wanted CROSS JOIN ${UNWRITTEN_KEY} AS found`,
      [caller.tenantId, jobId, [...keysByHash.keys()]],
    ),
  );
  // What is in the database came before what is not there yet.
  for (const { key_hash, row_number } of stored.rows)
    found.set(keysByHash.get(key_hash.replaceAll('-', ''))!, row_number);
  return found;
}

/** The error of a row whose key an earlier row of the file has. */
export function duplicateKeyError(
  { key, fields }: ExchangeDefinition,
  row: ConvertedRow,
  first: number,
): RowError {
  const names = key.map((property) => fields[property]!.header).join(', ');
  const value = key.map((property) => String(row.values[property] ?? '')).join(', ');
  const text = rowMessage('duplicateKey', first, names, row.rowNumber);
  return rowErrorOf(row, 'Identity', 'DuplicateKey', text, key[0]!, value);
}

/**
 * A duplicate key replaces all other errors of its row: the earlier row has to be corrected first. Inside a batch it was
 * found before; across batches only the table knows, and it is queried for the rows that failed.
 */
export async function preferDuplicateKeys(
  errors: readonly RowError[],
  rows: readonly ConvertedRow[],
  definition: ExchangeDefinition,
  context: BatchContext,
  writer: Pick<BatchWriter, 'findWritten'>,
): Promise<readonly RowError[]> {
  const failed = rowNumbersOf(errors);
  const failedRows = rows.filter(({ rowNumber }) => failed.has(rowNumber));
  const written = await writer.findWritten(failedRows, context);
  const duplicates = failedRows.flatMap((row) => {
    const first = written.get(row.key!);
    return first === undefined ? [] : [duplicateKeyError(definition, row, first)];
  });
  return [...withoutRowsOf(duplicates, errors), ...duplicates];
}
