import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Caller } from '@plinth/kernel/caller';
import { newIds } from '@plinth/kernel/new-ids';
import type { PoolClient } from 'pg';
import { ID_PROPERTY, type BatchContext, type ExchangeDefinition, type WrittenRow } from '../definition';
import type { FieldValue } from '../field';
import { byPlace, inIndexOrder } from '../look-up';
import { rowErrorOf, type RowError } from '../row-error';
import { rowMessage } from '../row-message';
import { hasKey, keyText, partOfKey, type ConvertedRow } from './convert-rows';
import { readKeyParts } from './key-parts';
import { duplicateKeyError } from './duplicate-keys';
import { jsonInSteps, type InTurns } from '../in-turns';
import { ID_BYTES } from '../ledger-quota';
import { recordWrite, type WriteRecord } from './write-record';
import {
  SIZE_OF_FORMER,
  writeStatements,
  type ImportMode,
  type Statement,
  type WriteResult,
} from './write-statements';

/** The rows of a batch by what became of them. */
export interface Written {
  inserted: WrittenRow[];
  updated: WrittenRow[];
  skipped: ConvertedRow[];
  errors: RowError[];
  /** About how many bytes are kept for the undo of the rows. */
  keptBytes: number;
}

/** Rows and, for each, where it is in the table, or the id that it gets there. */
type Referenced = ReadonlyMap<ConvertedRow, string>;

/** Rows as a statement takes them that inserts all of them, and the ids that they get. */
export interface NewRows {
  rows: readonly ConvertedRow[];
  ids: readonly string[];
  json: string;
}

/** A row of the table that has the key of a row of the file. */
interface StoredKey {
  place: string;
  id: string;
  jobId: string | null;
  importRow: number | null;
  isGone: boolean;
}

/** A batch that is being written. */
interface Writing extends WritingHooks {
  context: BatchContext;
  written: Written;
  record: WriteRecord;
  /** Rows of the file that bring back what was deleted: they are new, whatever the table has of them. */
  returning: Set<ConvertedRow>;
}

export interface WritingHooks {
  /**
   * Called for rows that are written in the transaction, perhaps before the database has answered that they are: its
   * statements are then behind those of the rows. Where the rows cannot be written, what it does is rolled back.
   */
  afterWrite(rows: readonly WrittenRow[]): Promise<void>;
  /** Called when the database has the rows, if there are any. */
  onSent(): void;
  /** Awaited before stored rows are looked for: those of the batch before may not show yet. */
  beforeLookUps?: (() => Promise<unknown> | undefined) | undefined;
  /** The rows, if they were prepared, as far as none of them was left out or changed since. */
  prepared?: NewRows | undefined;
}

/** A row of the table that has the id of a row of the file. */
interface StoredId {
  place: string;
  /** Where the row of the file gives it another one. */
  formerKey: FieldValue[] | null;
}

interface WriterOptions {
  mode: ImportMode;
  caller: Caller;
  canBeUndone: boolean;
  inTurns: InTurns;
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
    const { mode, caller, canBeUndone } = options;
    this.mapped = columns.filter((property) => property in definition.fields);
    this.statements = writeStatements(definition, this.mapped, { mode, caller, storesFormer: canBeUndone });
  }

  /** Prepares rows for `write`, which may take place later; undefined where they will not be inserted as they are. */
  async prepare(rows: readonly ConvertedRow[]): Promise<NewRows | undefined> {
    return this.mayAllBeNew(rows) ? this.asNew(rows) : undefined;
  }

  async write(rows: readonly ConvertedRow[], context: BatchContext, hooks: WritingHooks): Promise<Written> {
    const written: Written = { inserted: [], updated: [], skipped: [], errors: [], keptBytes: 0 };
    const record: WriteRecord = { transactions: new Set(), inserted: [], updated: [], formerBytes: 0 };
    const writing = { context, written, record, returning: new Set<ConvertedRow>(), ...hooks };
    if (rows.length > 0 && !(await this.writeAsNew(rows, writing))) {
      await hooks.beforeLookUps?.();
      await this.writeByKey(rows, writing);
      const changed = [...written.inserted, ...written.updated];
      if (changed.length > 0) await hooks.afterWrite(changed);
    }
    if (this.options.canBeUndone && record.transactions.size > 0) {
      await recordWrite(record, context);
      written.keptBytes = record.formerBytes + ID_BYTES * (record.inserted.length + record.updated.length);
    }
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
    return new Map(
      found.rows.map(([_job, row, ...key]) => [keyText(this.definition, key as FieldValue[]), row as number]),
    );
  }

  private keysOf(rows: readonly ConvertedRow[]): string {
    return JSON.stringify(
      rows.map(({ values }) => this.definition.key.map((property) => values[property] ?? null)),
    );
  }

  /**
   * Tries to insert rows as if all of them were new, as in most files; returns whether they were. An attempt that fails
   * is not repeated for some batches, after the next failure for twice as many, so that mixed files lose little by it.
   */
  private async writeAsNew(rows: readonly ConvertedRow[], writing: Writing): Promise<boolean> {
    if (!this.mayAllBeNew(rows)) {
      this.batchesUntilAttempt = Math.max(0, this.batchesUntilAttempt - 1);
      return false;
    }
    const { prepared } = writing;
    const isAsPrepared =
      prepared?.rows.length === rows.length && rows.every((row, at) => row === prepared.rows[at]);
    const newRows = isAsPrepared ? prepared : await this.asNew(rows);
    const isInserted = await this.insertNew(newRows, writing, writing.afterWrite);
    if (!isInserted) {
      this.batchesUntilAttempt = this.pauseAfterFailure;
      this.pauseAfterFailure *= 2;
    }
    return isInserted;
  }

  private mayAllBeNew(rows: readonly ConvertedRow[]): boolean {
    const mayTry = this.options.mode !== 'UPDATE' && this.batchesUntilAttempt === 0;
    return mayTry && rows.every(({ id }) => id === null);
  }

  private async asNew(rows: readonly ConvertedRow[]): Promise<NewRows> {
    const ids = newIds(rows.length);
    return { rows, ids, json: await this.toJson(rows, (_row, at) => ids[at]!) };
  }

  /**
   * Inserts rows, unless one of them is stored already or cannot be.
   * @param meanwhile runs while the database inserts them, and is undone where it does not
   */
  private async insertNew(
    { rows, ids, json }: NewRows,
    writing: Writing,
    meanwhile?: WritingHooks['afterWrite'],
  ): Promise<boolean> {
    const { written, record } = writing;
    for (const [at, row] of rows.entries()) row.id = ids[at]!;
    const identified = rows as readonly WrittenRow[];
    const inserted = await this.execute<[transaction: string]>(
      this.statements.insertNew,
      { json },
      writing,
      () => meanwhile?.(identified),
    );
    if (inserted instanceof Error) {
      for (const row of rows) row.id = null;
      return false;
    }
    record.transactions.add(inserted[0]![0]);
    for (const row of identified) {
      record.inserted.push(row.id);
      written.inserted.push(row);
    }
    return true;
  }

  /** Looks for the keys of rows first: stored rows are updated where they are, and the others are inserted. */
  private async writeByKey(rows: readonly ConvertedRow[], writing: Writing): Promise<void> {
    const { context, written } = writing;
    const { mode } = this.options;
    const storedByKey = await this.lockByKey(rows.filter(hasKey), context);
    const places = new Map<ConvertedRow, string>();
    const unknown: ConvertedRow[] = [];
    const byId: ConvertedRow[] = [];
    for (const row of rows) {
      const stored = storedByKey.get(row.key!);
      if (row.id !== null && (row.id !== stored?.id || stored.isGone)) byId.push(row);
      else if (!stored || (stored.isGone && mode === 'UPDATE')) unknown.push(row);
      else if (stored.jobId === context.jobId)
        written.errors.push(duplicateKeyError(this.definition, row, stored.importRow!));
      else if (mode === 'INSERT' && !stored.isGone) written.skipped.push(row);
      else {
        places.set(row, stored.place);
        if (stored.isGone) writing.returning.add(row);
      }
    }
    const classify = (unwritten: readonly ConvertedRow[]) => this.classifyUnwritten(unwritten, writing);
    await this.updateByPlace(this.statements.updateByKey, places, writing, classify);
    if (mode === 'UPDATE') written.skipped.push(...unknown);
    else if (unknown.length > 0 && !(await this.insertNew(await this.asNew(unknown), writing)))
      await this.writeRows(this.statements.write, unknown, idsFor(unknown), writing, classify);
    if (byId.length > 0) await this.writeById(byId, writing);
  }

  private updateByPlace(
    statement: Statement,
    places: Referenced,
    writing: Writing,
    classifyUnwritten: (rows: readonly ConvertedRow[]) => Promise<void> | void,
  ): Promise<void> {
    return byPlace(writing.context.connection, () =>
      this.writeRows(statement, [...places.keys()], places, writing, classifyUnwritten),
    );
  }

  /** Writes rows by one statement; where the database refuses it, halving finds the rows that it refuses. */
  private async writeRows(
    statement: Statement,
    rows: readonly ConvertedRow[],
    references: Referenced,
    writing: Writing,
    classifyUnwritten: (rows: readonly ConvertedRow[]) => Promise<void> | void,
  ): Promise<void> {
    if (rows.length === 0) return;
    const { written, record } = writing;
    const referenceOf = (row: ConvertedRow) => references.get(row)!;
    const json = await this.toJson(rows, referenceOf);
    const places =
      statement.keepFormer && JSON.stringify(rows.map((row) => [row.rowNumber, referenceOf(row)]));
    const results = await this.execute<WriteResult>(statement, { json, places }, writing);
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
    if (this.options.canBeUndone && statement.keepFormer === undefined)
      record.formerBytes += await this.sizeOfFormer(results, writing.context);
    for (const [rowNumber, updatedId, transaction] of results) {
      const row = byNumber.get(rowNumber)!;
      row.id = updatedId ?? references.get(row)!;
      written[updatedId === null || writing.returning.has(row) ? 'inserted' : 'updated'].push(
        row as WrittenRow,
      );
      record[updatedId === null ? 'inserted' : 'updated'].push(row.id);
      record.transactions.add(transaction);
      byNumber.delete(rowNumber);
    }
    if (byNumber.size > 0) await classifyUnwritten([...byNumber.values()]);
  }

  /** Of rows that somebody else had inserted after the look-up, and which the statement itself stored as they were. */
  private async sizeOfFormer(
    results: readonly WriteResult[],
    { connection, caller, jobId }: BatchContext,
  ): Promise<number> {
    const updated = results.flatMap(([, updatedId]) => updatedId ?? []);
    if (updated.length === 0) return 0;
    const values = [caller.tenantId, jobId, updated];
    const { rows } = await inIndexOrder(connection, () =>
      connection.query<{ bytes: number }>(SIZE_OF_FORMER, values),
    );
    return rows[0]!.bytes;
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

  /** Rows with an id change the row of this id, and its key where it may change. The id of what was deleted is not known. */
  private async writeById(rows: readonly ConvertedRow[], writing: Writing): Promise<void> {
    const { context, written } = writing;
    const { definition } = this;
    const { storedByRow, writtenAs } = await this.lockById(rows, context);
    let next = rows;
    while (next.length > 0) {
      const firstOfId = new Map<string, ConvertedRow>();
      const later: ConvertedRow[] = [];
      for (const row of next) {
        const id = row.id!;
        const first = writtenAs.get(id);
        const stored = storedByRow.get(row.rowNumber);
        if (!stored) written.errors.push(unknownIdError(row));
        else if (first !== undefined) written.errors.push(duplicateKeyError(definition, row, first));
        else if (this.options.mode === 'INSERT') written.skipped.push(row);
        else if (stored.formerKey && !definition.keysMayChange)
          written.errors.push(otherKeyError(definition, row, stored.formerKey));
        else if (firstOfId.has(id)) later.push(row);
        else {
          firstOfId.set(id, row);
          row.formerKey = stored.formerKey ? keyValues(definition, stored.formerKey) : undefined;
        }
      }
      const references = new Map(
        [...firstOfId.values()].map((row) => [row, storedByRow.get(row.rowNumber)!.place]),
      );
      await this.updateByPlace(this.statements.updateById, references, writing, (unwritten) => {
        written.errors.push(...unwritten.map(unknownIdError));
      });
      for (const { id, rowNumber } of written.updated) writtenAs.set(id, rowNumber);
      next = later;
    }
  }

  /** Locks the rows that have the ids of these. Returns them by row of the file, and which of them this job has written. */
  private async lockById(
    rows: readonly ConvertedRow[],
    { connection, caller, jobId }: BatchContext,
  ): Promise<{ storedByRow: ReadonlyMap<number, StoredId>; writtenAs: Map<string, number> }> {
    const inOneOrder = rows.toSorted((one, other) => (one.id! < other.id! ? -1 : 1));
    const wanted = inOneOrder.map(({ rowNumber, id, values }) => [
      rowNumber,
      id,
      ...this.definition.key.map((property) => values[property] ?? null),
    ]);
    type Found = [number, string, string, string | null, number | null, boolean, FieldValue[] | null];
    const found = await inIndexOrder(connection, () =>
      connection.query<Found>({
        text: this.statements.lockById,
        values: [caller.tenantId, JSON.stringify(wanted)],
        rowMode: 'array',
      }),
    );
    const storedByRow = new Map<number, StoredId>();
    const writtenAs = new Map<string, number>();
    for (const [rowNumber, place, id, job, importRow, isUnknown, formerKey] of found.rows) {
      if (!isUnknown)
        storedByRow.set(rowNumber, {
          place,
          formerKey: formerKey && readKeyParts(this.definition, formerKey),
        });
      if (job === jobId && importRow !== null) writtenAs.set(id, importRow);
    }
    return { storedByRow, writtenAs };
  }

  /** Locks the rows that have the keys of these, and returns them by key. */
  private async lockByKey(
    rows: readonly ConvertedRow[],
    { connection, caller }: BatchContext,
  ): Promise<ReadonlyMap<string, StoredKey>> {
    const found = await inIndexOrder(connection, () =>
      connection.query<[string, string, string | null, number | null, boolean, ...FieldValue[]]>({
        text: this.statements.lockByKey,
        values: [caller.tenantId, this.keysOf(rows)],
        rowMode: 'array',
      }),
    );
    return new Map(
      found.rows.map(([place, id, jobId, importRow, isGone, ...key]) => [
        keyText(this.definition, key),
        { place, id, jobId, importRow, isGone },
      ]),
    );
  }

  /** Runs one statement over rows, in a savepoint; returns its results, or why the database refused the rows. */
  private async execute<Result extends unknown[]>(
    { keepFormer, text }: Statement,
    { json, places }: { json: string; places?: string | undefined },
    { context: { connection, caller, jobId }, record, onSent }: Writing,
    meanwhile?: () => Promise<void> | undefined,
  ): Promise<Result[] | Error> {
    let formerBytes = 0;
    const done = await inSavepoint(connection, async () => {
      if (keepFormer !== undefined) {
        const kept = await connection.query<{ bytes: number }>(keepFormer, [caller.tenantId, places, jobId]);
        formerBytes = kept.rows[0]!.bytes;
      }
      const values = [caller.tenantId, json, jobId];
      const results = connection.query<Result>({ text, values, rowMode: 'array' });
      // `pg` sends at the end of this turn of the event loop.
      const rest = nextTurn().then(() => {
        const following = meanwhile?.();
        onSent();
        return following;
      });
      // Both end before the savepoint does, so that nothing comes behind what undoes them.
      await Promise.allSettled([results, rest]);
      const answer = await results;
      await rest;
      return answer;
    });
    if (done instanceof Error) return done;
    record.formerBytes += formerBytes;
    return done.rows;
  }

  private toJson(
    rows: readonly ConvertedRow[],
    referenceOf: (row: ConvertedRow, at: number) => string,
  ): Promise<string> {
    const valuesOf = (convertedRow: ConvertedRow, at: number): FieldValue[] => {
      const { rowNumber, values } = convertedRow;
      const row: FieldValue[] = [rowNumber, referenceOf(convertedRow, at)];
      for (const property of this.mapped) row.push(values[property] ?? null);
      return row;
    };
    return this.options.inTurns(jsonInSteps(rows, valuesOf));
  }
}

/** Rows with the ids that they get when they are inserted. */
function idsFor(rows: readonly ConvertedRow[]): Referenced {
  const ids = newIds(rows.length);
  return new Map(rows.map((row, index) => [row, ids[index]!]));
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

const keyValues = ({ key }: ExchangeDefinition, values: readonly FieldValue[]): Record<string, FieldValue> =>
  Object.fromEntries(key.map((property, at) => [property, values[at]!]));

/** The error of a row that would give the row of its id another key. */
function otherKeyError(
  definition: ExchangeDefinition,
  row: ConvertedRow,
  formerKey: readonly FieldValue[],
): RowError {
  const { key, fields } = definition;
  const differs = (property: string, at: number): boolean =>
    partOfKey(fields[property]!, row.values[property] ?? null) !==
    partOfKey(fields[property]!, formerKey[at]!);
  const other = key.find(differs) ?? key[0]!;
  const text = rowMessage('otherKey', fields[other]!.header);
  return rowErrorOf(row, 'Identity', 'OtherKey', text, other, String(row.values[other] ?? ''));
}

/** Which kind of constraint refused a row; the message of the database stays inside. */
function persistenceError(error: Error, row: ConvertedRow): RowError {
  const { code } = error as Error & { code?: string };
  if (code === '23505') return rowErrorOf(row, 'Persistence', 'Unique', rowMessage('unique'));
  if (code === '23503') return rowErrorOf(row, 'Persistence', 'Reference', rowMessage('reference'));
  return rowErrorOf(row, 'Persistence', 'Constraint', rowMessage('constraint'));
}
