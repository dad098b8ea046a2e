import { newIds } from '@plinth/kernel/new-ids';
import type { PoolClient } from 'pg';
import { ID_PROPERTY, type BatchContext, type ExchangeDefinition, type WrittenRow } from '../definition';
import type { FieldValue } from '../field';
import { byPlace, inIndexOrder } from '../look-up';
import { rowErrorOf, type RowError } from '../row-error';
import { rowMessage } from '../row-message';
import { keyText, type ConvertedRow } from './convert-rows';
import { duplicateKeyError } from './duplicate-keys';
import { recordWrite, type WriteRecord } from './write-record';
import { writeStatements, type ImportMode, type WriteResult } from './write-statements';

/** The rows of a batch by what became of them. */
export interface Written {
  inserted: WrittenRow[];
  updated: WrittenRow[];
  skipped: ConvertedRow[];
  errors: RowError[];
}

/** Rows and, for each, where it is in the table, or the id that it gets there. */
type Referenced = ReadonlyMap<ConvertedRow, string>;

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
  private batchesUntilAttempt = 0;
  private pauseAfterFailure = 1;

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
    if (rows.length === 0) return new Map();
    const found = await inIndexOrder(connection, () =>
      connection.query<unknown[]>({
        text: this.statements.findOfJob,
        values: [caller.tenantId, this.keysOf(rows), jobId],
        rowMode: 'array',
      }),
    );
    return new Map(found.rows.map(([_job, row, ...key]) => [keyText(key as FieldValue[]), row as number]));
  }

  private keysOf(rows: readonly ConvertedRow[]): string {
    return JSON.stringify(
      rows.map(({ values }) => this.definition.key.map((property) => values[property] ?? null)),
    );
  }

  /** Of the rows with an id, those whose key is the stored one can be written together with rows without an id. */
  private async splitByKey(rows: readonly ConvertedRow[], { connection, caller }: BatchContext) {
    const found = await inIndexOrder(connection, () =>
      connection.query<unknown[]>({
        text: this.statements.findKeys,
        values: [caller.tenantId, rows.map(({ id }) => id)],
        rowMode: 'array',
      }),
    );
    const keysById = new Map(found.rows.map(([id, ...key]) => [id as string, keyText(key as FieldValue[])]));
    const hasStoredKey = (row: ConvertedRow) => keysById.get(row.id!) === row.key;
    return { sameKey: rows.filter(hasStoredKey), otherKey: rows.filter((row) => !hasStoredKey(row)) };
  }

  private async writeByKey(rows: readonly ConvertedRow[], writing: Writing): Promise<void> {
    const { context, written } = writing;
    const { write } = this.statements;
    const classify = (unwritten: readonly ConvertedRow[]) => this.classifyUnwritten(unwritten, writing);
    if (this.options.mode !== 'UPDATE') {
      const unused = newIds(rows.length);
      const ids = new Map(rows.map((row, index) => [row, row.id ?? unused[index]!]));
      if (await this.insertNew(rows, ids, writing)) return;
      return this.writeRows(write, rows, ids, writing, classify);
    }
    const places = await this.lockByKey(rows, context);
    written.skipped.push(...rows.filter((row) => !places.has(row)));
    const stored = rows.filter((row) => places.has(row));
    return byPlace(context.connection, () => this.writeRows(write, stored, places, writing, classify));
  }

  /**
   * Tries to insert rows as if all of them were new, as in most files; returns whether they were. An attempt that fails
   * is not repeated for some batches, after the next failure for twice as many, so that mixed files lose little by it.
   */
  private async insertNew(
    rows: readonly ConvertedRow[],
    ids: Referenced,
    { context, written, record }: Writing,
  ): Promise<boolean> {
    if (this.batchesUntilAttempt > 0) {
      this.batchesUntilAttempt--;
      return false;
    }
    const inserted = rows.every(({ id }) => id === null)
      ? await this.query<[transaction: string]>(this.statements.insertNew, rows, ids, context)
      : undefined;
    if (!Array.isArray(inserted)) {
      this.batchesUntilAttempt = this.pauseAfterFailure;
      this.pauseAfterFailure *= 2;
      return false;
    }
    record.transactions.add(inserted[0]![0]);
    for (const row of rows) {
      row.id = ids.get(row)!;
      record.inserted.push(row.id);
      written.inserted.push(row as WrittenRow);
    }
    return true;
  }

  /** Writes rows by one statement; where the database refuses it, halving finds the rows that it refuses. */
  private async writeRows(
    statement: string,
    rows: readonly ConvertedRow[],
    references: Referenced,
    writing: Writing,
    classifyUnwritten: (rows: readonly ConvertedRow[]) => Promise<void> | void,
  ): Promise<void> {
    if (rows.length === 0) return;
    const { written } = writing;
    const results = await this.execute(statement, rows, references, writing);
    if (results instanceof Error) {
      if (rows.length === 1) {
        written.errors.push(persistenceError(results, rows[0]!));
        return;
      }
      const half = Math.ceil(rows.length / 2);
      await this.writeRows(statement, rows.slice(0, half), references, writing, classifyUnwritten);
      await this.writeRows(statement, rows.slice(half), references, writing, classifyUnwritten);
      return;
    }
    const byNumber = new Map(rows.map((row) => [row.rowNumber, row]));
    for (const [rowNumber, updatedId] of results) {
      const row = byNumber.get(rowNumber)!;
      row.id = updatedId ?? references.get(row)!;
      (updatedId === null ? written.inserted : written.updated).push(row as WrittenRow);
      byNumber.delete(rowNumber);
    }
    if (byNumber.size > 0) await classifyUnwritten([...byNumber.values()]);
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
    const { context, written } = writing;
    const { connection, caller, jobId } = context;
    const found = await inIndexOrder(connection, () =>
      connection.query<[string, string, string | null, number | null]>({
        text: this.statements.lockById,
        values: [caller.tenantId, [...new Set(rows.map(({ id }) => id))].sort()],
        rowMode: 'array',
      }),
    );
    const places = new Map(found.rows.map(([place, id]) => [id, place]));
    const writtenAs = new Map(
      found.rows.flatMap(([, id, job, row]) => (job === jobId && row !== null ? [[id, row] as const] : [])),
    );
    let next = rows;
    while (next.length > 0) {
      const firstOfId = new Map<string, ConvertedRow>();
      const later: ConvertedRow[] = [];
      for (const row of next) {
        const id = row.id!;
        const first = writtenAs.get(id);
        if (!places.has(id)) written.errors.push(unknownIdError(row));
        else if (first !== undefined) written.errors.push(duplicateKeyError(this.definition, row, first));
        else if (this.options.mode === 'INSERT') written.skipped.push(row);
        else if (firstOfId.has(id)) later.push(row);
        else firstOfId.set(id, row);
      }
      const updated = [...firstOfId.values()];
      const references = new Map(updated.map((row) => [row, places.get(row.id!)!]));
      await byPlace(connection, () =>
        this.writeRows(this.statements.updateById, updated, references, writing, (unwritten) => {
          written.errors.push(...unwritten.map(unknownIdError));
        }),
      );
      for (const { id, rowNumber } of written.updated) writtenAs.set(id, rowNumber);
      next = later;
    }
  }

  /** Locks the rows that have the keys of these, and returns where each is. */
  private async lockByKey(
    rows: readonly ConvertedRow[],
    { connection, caller }: BatchContext,
  ): Promise<Referenced> {
    const found = await inIndexOrder(connection, () =>
      connection.query<unknown[]>({
        text: this.statements.lockByKey,
        values: [caller.tenantId, this.keysOf(rows)],
        rowMode: 'array',
      }),
    );
    const byKey = new Map(
      found.rows.map(([place, ...key]) => [keyText(key as FieldValue[]), place as string]),
    );
    return new Map(
      rows.flatMap((row) => {
        const place = byKey.get(row.key!);
        return place === undefined ? [] : [[row, place] as const];
      }),
    );
  }

  /** Runs one statement over rows; returns what it did with which, or why the database refused them. */
  private async execute(
    statement: string,
    rows: readonly ConvertedRow[],
    references: Referenced,
    { context, record }: Writing,
  ): Promise<WriteResult[] | Error> {
    const results = await this.query<WriteResult>(statement, rows, references, context);
    if (results instanceof Error) return results;
    const byNumber = new Map(rows.map((row) => [row.rowNumber, row]));
    for (const [rowNumber, updatedId, transaction] of results) {
      record.transactions.add(transaction);
      if (updatedId === null) record.inserted.push(references.get(byNumber.get(rowNumber)!)!);
      else record.updated.push(updatedId);
    }
    return results;
  }

  private async query<Result extends unknown[]>(
    statement: string,
    rows: readonly ConvertedRow[],
    references: Referenced,
    { connection, caller, jobId }: BatchContext,
  ): Promise<Result[] | Error> {
    const done = await inSavepoint(connection, () =>
      connection.query<Result>({
        text: statement,
        values: [caller.tenantId, this.toJson(rows, references), jobId],
        rowMode: 'array',
      }),
    );
    return done instanceof Error ? done : done.rows;
  }

  private toJson(rows: readonly ConvertedRow[], references: Referenced): string {
    return JSON.stringify(
      rows.map((convertedRow) => {
        const { rowNumber, values } = convertedRow;
        const row: FieldValue[] = [rowNumber, references.get(convertedRow)!];
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
