import type { PoolClient } from 'pg';
import { ID_PROPERTY, type BatchContext, type ExchangeDefinition } from '../definition';
import type { FieldValue } from '../field';
import { rowErrorOf, type RowError } from '../row-error';
import { rowMessage } from '../row-message';
import { keyText, type ConvertedRow } from './convert-rows';
import { duplicateKeyError } from './duplicate-keys';
import { newRowIds } from './row-ids';
import { recordWrite, type WriteRecord } from './write-record';
import { writeStatements, type ImportMode, type WrittenRow } from './write-statements';

/** The rows of a batch by what became of them. */
export interface Written {
  inserted: ConvertedRow[];
  updated: ConvertedRow[];
  skipped: ConvertedRow[];
  errors: RowError[];
}

/** A batch that is being written. */
interface Writing {
  context: BatchContext;
  written: Written;
  record: WriteRecord;
}

interface WriterOptions {
  mode: ImportMode;
  callerId: string;
  canBeUndone: boolean;
}

/**
 * Writes the rows of a batch in as few statements as there are kinds of rows.
 * A row that this job wrote already is never written again: its `import_job_id` shows that, and its `import_row` which
 * row of the file it was. So a duplicate key in a file of any size is found without storing all keys.
 */
export class BatchWriter {
  private readonly mapped: readonly string[];
  private readonly statements: ReturnType<typeof writeStatements>;

  constructor(
    private readonly definition: ExchangeDefinition,
    columns: readonly string[],
    private readonly options: WriterOptions,
  ) {
    const { mode, callerId, canBeUndone } = options;
    this.mapped = columns.filter((property) => property in definition.fields);
    this.statements = writeStatements(definition, this.mapped, { mode, callerId, storesFormer: canBeUndone });
  }

  async write(rows: readonly ConvertedRow[], context: BatchContext): Promise<Written> {
    const written: Written = { inserted: [], updated: [], skipped: [], errors: [] };
    const record: WriteRecord = { transactions: new Set(), inserted: [], updated: [] };
    const writing = { context, written, record };
    const withId = rows.filter(({ id }) => id !== null);
    const { sameKey, otherKey } =
      withId.length > 0 ? await this.splitByKey(withId, context) : { sameKey: [], otherKey: [] };
    const byKey = otherKey.length > 0 ? [...rows.filter(({ id }) => id === null), ...sameKey] : rows;
    if (byKey.length > 0) await this.writeByKey(byKey, writing);
    if (otherKey.length > 0) await this.writeById(otherKey, writing);
    if (this.options.canBeUndone && record.transactions.size > 0) await recordWrite(record, context);
    return written;
  }

  /** The keys among these that this job has written, each with the row of the file that it was. */
  async findWritten(
    rows: readonly ConvertedRow[],
    { connection, caller, jobId }: BatchContext,
  ): Promise<Map<string, number>> {
    const keys = rows.map(({ values }) => this.definition.key.map((property) => values[property] ?? null));
    const found = await connection.query<unknown[]>({
      text: this.statements.findOfJob,
      values: [caller.tenantId, JSON.stringify(keys), jobId],
      rowMode: 'array',
    });
    return new Map(found.rows.map(([row, ...key]) => [keyText(key as FieldValue[]), row as number]));
  }

  /** Of the rows with an id, those whose key is the stored one can be written together with rows without an id. */
  private async splitByKey(rows: readonly ConvertedRow[], { connection, caller }: BatchContext) {
    const found = await connection.query<unknown[]>({
      text: this.statements.findKeys,
      values: [caller.tenantId, rows.map(({ id }) => id)],
      rowMode: 'array',
    });
    const keysById = new Map(found.rows.map(([id, ...key]) => [id as string, keyText(key as FieldValue[])]));
    const hasStoredKey = (row: ConvertedRow) => keysById.get(row.id!) === row.key;
    return { sameKey: rows.filter(hasStoredKey), otherKey: rows.filter((row) => !hasStoredKey(row)) };
  }

  private async writeByKey(rows: readonly ConvertedRow[], writing: Writing): Promise<void> {
    const { written } = writing;
    const results = await this.execute(this.statements.byKey, rows, writing);
    if (results instanceof Error) {
      if (rows.length === 1) {
        written.errors.push(persistenceError(results, rows[0]!));
        return;
      }
      // One row fails the whole statement: halving finds it in a few steps.
      const half = Math.ceil(rows.length / 2);
      await this.writeByKey(rows.slice(0, half), writing);
      await this.writeByKey(rows.slice(half), writing);
      return;
    }
    const byNumber = new Map(rows.map((row) => [row.rowNumber, row]));
    for (const [rowNumber, updatedId] of results) {
      (updatedId === null ? written.inserted : written.updated).push(byNumber.get(rowNumber)!);
      byNumber.delete(rowNumber);
    }
    if (byNumber.size > 0) await this.classifyUnwritten([...byNumber.values()], writing);
  }

  /** Rows that the statement did not write: this job wrote their key before, or the mode excludes them. */
  private async classifyUnwritten(
    rows: readonly ConvertedRow[],
    { context, written }: Writing,
  ): Promise<void> {
    const firstRows = await this.findWritten(rows, context);
    for (const row of rows) {
      const first = firstRows.get(row.key!);
      if (first === undefined) written.skipped.push(row);
      else written.errors.push(duplicateKeyError(this.definition, row, first));
    }
  }

  /** Rows with an id change the row of this id, even when its key changes. */
  private async writeById(rows: readonly ConvertedRow[], writing: Writing): Promise<void> {
    const { written } = writing;
    const { connection, caller, jobId } = writing.context;
    const found = await connection.query<[string, string | null, number | null]>({
      text: this.statements.findById,
      values: [caller.tenantId, rows.map(({ id }) => id)],
      rowMode: 'array',
    });
    const stored = new Map(found.rows.map(([id, job, row]) => [id, job === jobId ? row : null] as const));
    for (const row of rows) {
      const writtenAs = stored.get(row.id!);
      if (writtenAs === undefined) written.errors.push(unknownIdError(row));
      else if (writtenAs !== null) written.errors.push(duplicateKeyError(this.definition, row, writtenAs));
      else if (this.options.mode === 'INSERT') written.skipped.push(row);
      else if (await this.updateById(row, writing)) stored.set(row.id!, row.rowNumber);
    }
  }

  private async updateById(row: ConvertedRow, writing: Writing): Promise<boolean> {
    const { written } = writing;
    const results = await this.execute(this.statements.byId, [row], writing);
    const isUpdated = !(results instanceof Error) && results.length > 0;
    if (isUpdated) written.updated.push(row);
    else written.errors.push(results instanceof Error ? persistenceError(results, row) : unknownIdError(row));
    return isUpdated;
  }

  /** Runs one statement over rows; returns what it did with which, or why the database refused them. */
  private async execute(
    statement: string,
    rows: readonly ConvertedRow[],
    { context, record }: Writing,
  ): Promise<WrittenRow[] | Error> {
    const { connection, caller, jobId } = context;
    const newIds = newRowIds(rows.length);
    const ids = rows.map(({ id }, index) => id ?? newIds[index]!);
    const done = await inSavepoint(connection, () =>
      connection.query<WrittenRow>({
        text: statement,
        values: [caller.tenantId, this.toJson(rows, ids), jobId],
        rowMode: 'array',
      }),
    );
    if (done instanceof Error) return done;
    const idByRow = new Map(rows.map(({ rowNumber }, index) => [rowNumber, ids[index]!]));
    for (const [rowNumber, updatedId, transaction] of done.rows) {
      record.transactions.add(transaction);
      if (updatedId === null) record.inserted.push(idByRow.get(rowNumber)!);
      else record.updated.push(updatedId);
    }
    return done.rows;
  }

  private toJson(rows: readonly ConvertedRow[], ids: readonly string[]): string {
    return JSON.stringify(
      rows.map(({ rowNumber, values }, index) => {
        const row: FieldValue[] = [rowNumber, ids[index]!];
        for (const property of this.mapped) row.push(values[property] ?? null);
        return row;
      }),
    );
  }
}

/** Runs a statement; an error that is about its rows is returned and leaves the transaction usable. */
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

const unknownIdError = (row: ConvertedRow): RowError =>
  rowErrorOf(row, 'Identity', 'UnknownId', rowMessage('unknownId'), ID_PROPERTY, row.id);

/** Which kind of constraint refused a row; the message of the database stays inside. */
function persistenceError(error: Error, row: ConvertedRow): RowError {
  const { code } = error as Error & { code?: string };
  if (code === '23505') return rowErrorOf(row, 'Persistence', 'Unique', rowMessage('unique'));
  if (code === '23503') return rowErrorOf(row, 'Persistence', 'Reference', rowMessage('reference'));
  return rowErrorOf(row, 'Persistence', 'Constraint', rowMessage('constraint'));
}
