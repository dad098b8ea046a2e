import type { PoolClient } from 'pg';
import type { ConvertedRow } from './convert';
import { keyText, said, shownValue } from './convert';
import type { BatchContext, ExchangeDefinition, RowFault } from './definition';
import type { FieldValue } from './field';
import { rowIds } from './row-ids';
import { rowText, type RowText } from './row-texts';
import { noteWrite, type WriteNote } from './write-note';
import { writeStatements, type ImportMode, type WrittenRow } from './write-statements';

export interface Written {
  inserted: ConvertedRow[];
  updated: ConvertedRow[];
  skipped: ConvertedRow[];
  faults: RowFault[];
}

/** A batch that is being written. */
interface Writing {
  context: BatchContext;
  written: Written;
  note: WriteNote;
}

/** Writes the rows of one batch in as few statements as there are kinds of rows. */
export interface BatchWriter {
  write(rows: readonly ConvertedRow[], context: BatchContext): Promise<Written>;
  /** By key, as which row of the file this job wrote it already. */
  findWritten(rows: readonly ConvertedRow[], context: BatchContext): Promise<Map<string, number>>;
}

/**
 * Prepares the statements of one import.
 * A row that this job wrote already is never written again: its `import_job_id` says so, and its `import_row` which row
 * of the file it was. So a key that appears twice in a file of any size is found without remembering all keys.
 */
export function batchWriter(
  definition: ExchangeDefinition,
  columns: readonly string[],
  { mode, callerId, canBeUndone }: { mode: ImportMode; callerId: string; canBeUndone: boolean },
): BatchWriter {
  const mapped = columns.filter((property) => property in definition.fields);
  const sql = writeStatements(definition, mapped, { mode, callerId, keepsFormer: canBeUndone });
  const keyOf = (values: Record<string, FieldValue>) =>
    definition.key.map((property) => values[property] ?? null);

  const toJson = (rows: readonly ConvertedRow[], ids: readonly string[]): string =>
    JSON.stringify(
      rows.map(({ rowNumber, values }, index) => {
        const row: FieldValue[] = [rowNumber, ids[index]!];
        for (const property of mapped) row.push(values[property] ?? null);
        return row;
      }),
    );

  /** Runs one statement over rows; answers what it did with which, or why the database refused them. */
  const writeTogether = async (
    statement: string,
    rows: readonly ConvertedRow[],
    writing: Writing,
  ): Promise<WrittenRow[] | Error> => {
    const { connection, caller, jobId } = writing.context;
    const newIds = rowIds(rows.length);
    const ids = rows.map(({ id }, index) => id ?? newIds[index]!);
    const done = await inSavepoint(connection, () =>
      connection.query<WrittenRow>({
        text: statement,
        values: [caller.tenantId, toJson(rows, ids), jobId],
        rowMode: 'array',
      }),
    );
    if (done instanceof Error) return done;
    const { note } = writing;
    const idByRow = new Map(rows.map(({ rowNumber }, index) => [rowNumber, ids[index]!]));
    for (const [rowNumber, updatedId, transaction] of done.rows) {
      note.transactions.add(transaction);
      if (updatedId === null) note.inserted.push(idByRow.get(rowNumber)!);
      else note.updated.push(updatedId);
    }
    return done.rows;
  };

  const findWritten: BatchWriter['findWritten'] = async (rows, { connection, caller, jobId }) => {
    const found = await connection.query<unknown[]>({
      text: sql.findOfJob,
      values: [caller.tenantId, JSON.stringify(rows.map(({ values }) => keyOf(values))), jobId],
      rowMode: 'array',
    });
    return new Map(found.rows.map(([row, ...key]) => [keyText(key as FieldValue[]), row as number]));
  };

  /** Rows that no statement took: written by this job before, or excluded by the mode. */
  const explain = async (rows: readonly ConvertedRow[], { context, written }: Writing) => {
    const firstRows = await findWritten(rows, context);
    for (const row of rows) {
      const first = firstRows.get(row.key!);
      if (first === undefined) written.skipped.push(row);
      else written.faults.push(duplicateOf(definition, row, first));
    }
  };

  const writeByKey = async (rows: readonly ConvertedRow[], writing: Writing): Promise<void> => {
    const { written } = writing;
    const results = await writeTogether(sql.byKey, rows, writing);
    if (results instanceof Error) {
      if (rows.length === 1) {
        written.faults.push(refusedBy(results, rows[0]!));
        return;
      }
      // One row spoils a whole statement: halving finds it in a few steps.
      const half = Math.ceil(rows.length / 2);
      await writeByKey(rows.slice(0, half), writing);
      await writeByKey(rows.slice(half), writing);
      return;
    }
    const byNumber = new Map(rows.map((row) => [row.rowNumber, row]));
    for (const [rowNumber, updatedId] of results) {
      (updatedId === null ? written.inserted : written.updated).push(byNumber.get(rowNumber)!);
      byNumber.delete(rowNumber);
    }
    if (byNumber.size > 0) await explain([...byNumber.values()], writing);
  };

  /** Rows that name an id: the row of this id is meant, also when its key is to change. */
  const writeById = async (rows: readonly ConvertedRow[], writing: Writing): Promise<void> => {
    const { written } = writing;
    const { connection, caller, jobId } = writing.context;
    const found = await connection.query<[string, string | null, number | null]>({
      text: sql.findById,
      values: [caller.tenantId, rows.map(({ id }) => id)],
      rowMode: 'array',
    });
    const stored = new Map(found.rows.map(([id, job, row]) => [id, job === jobId ? row : null] as const));
    for (const row of rows) {
      const writtenAs = stored.get(row.id!);
      if (writtenAs === undefined) written.faults.push(unknownId(row));
      else if (writtenAs !== null) written.faults.push(duplicateOf(definition, row, writtenAs));
      else if (mode === 'INSERT') written.skipped.push(row);
      else {
        const results = await writeTogether(sql.byId, [row], writing);
        if (results instanceof Error) written.faults.push(refusedBy(results, row));
        else if (results.length === 0) written.faults.push(unknownId(row));
        else {
          written.updated.push(row);
          stored.set(row.id!, row.rowNumber);
        }
      }
    }
  };

  /** Of the rows with an id, those whose key is the stored one can go the quick way. */
  const splitByKey = async (rows: readonly ConvertedRow[], { connection, caller }: BatchContext) => {
    const found = await connection.query<unknown[]>({
      text: sql.findKeys,
      values: [caller.tenantId, rows.map(({ id }) => id)],
      rowMode: 'array',
    });
    const keysById = new Map(found.rows.map(([id, ...key]) => [id as string, keyText(key as FieldValue[])]));
    const keepsKey = (row: ConvertedRow) => keysById.get(row.id!) === row.key;
    return { quick: rows.filter(keepsKey), slow: rows.filter((row) => !keepsKey(row)) };
  };

  return {
    findWritten,
    async write(rows, context) {
      const written: Written = { inserted: [], updated: [], skipped: [], faults: [] };
      const note: WriteNote = { transactions: new Set(), inserted: [], updated: [] };
      const writing = { context, written, note };
      const withId = rows.filter(({ id }) => id !== null);
      const { quick, slow } = withId.length > 0 ? await splitByKey(withId, context) : { quick: [], slow: [] };
      const byKey = slow.length > 0 ? [...rows.filter(({ id }) => id === null), ...quick] : rows;
      if (byKey.length > 0) await writeByKey(byKey, writing);
      if (slow.length > 0) await writeById(slow, writing);
      if (canBeUndone && note.transactions.size > 0) await noteWrite(note, context);
      return written;
    },
  };
}

/** Runs a statement so that its failure for the sake of a row leaves the transaction usable. */
export async function inSavepoint<Result>(
  connection: PoolClient,
  run: () => Promise<Result>,
): Promise<Result | Error> {
  await connection.query('SAVEPOINT rows');
  try {
    const result = await run();
    await connection.query('RELEASE SAVEPOINT rows');
    return result;
  } catch (error) {
    if (!isAboutRows(error)) throw error;
    await connection.query('ROLLBACK TO SAVEPOINT rows; RELEASE SAVEPOINT rows');
    return error as Error;
  }
}

/** SQLSTATE classes 22 and 23: the data is wrong, not the database or the statement. */
const isAboutRows = (error: unknown): boolean =>
  /^2[23]/.test(String((error as { code?: unknown }).code ?? ''));

const rowFault = (
  row: ConvertedRow,
  kind: RowFault['kind'],
  code: string,
  text: RowText,
  column: string | null = null,
  value: string | null = null,
): RowFault => ({
  rowNumber: row.rowNumber,
  kind,
  column,
  value: value === null ? null : shownValue(value),
  code: `Service:${kind}:${code}`,
  ...said(text),
});

export function duplicateOf({ key, fields }: ExchangeDefinition, row: ConvertedRow, first: number): RowFault {
  const names = key.map((property) => fields[property]!.header).join(', ');
  const value = key.map((property) => String(row.values[property] ?? '')).join(', ');
  const text = rowText('duplicateKey', first, names, row.rowNumber);
  return rowFault(row, 'Identity', 'DuplicateKey', text, key[0]!, value);
}

const unknownId = (row: ConvertedRow): RowFault =>
  rowFault(row, 'Identity', 'UnknownId', rowText('unknownId'), 'id', row.id);

/** What a constraint of the database has against a row, without its words. */
function refusedBy(error: Error, row: ConvertedRow): RowFault {
  const { code } = error as Error & { code?: string };
  if (code === '23505') return rowFault(row, 'Persistence', 'Unique', rowText('unique'));
  if (code === '23503') return rowFault(row, 'Persistence', 'Reference', rowText('reference'));
  return rowFault(row, 'Persistence', 'Constraint', rowText('constraint'));
}
