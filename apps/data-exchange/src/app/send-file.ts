import { inTurnsOf, type InTurns } from '@plinth/exchange/in-turns';
import type { FailedRow } from '@plinth/exchange/row-error';
import type { Caller } from '@plinth/kernel/caller';
import type { Commit__Output } from '@plinth/proto/generated/plinth/exchange/v1/Commit';
import type { Definition } from '../domain/definition';
import { takeInSteps, withFileColumns, type FailedRowWithCells } from '../domain/failed-row';
import type { RowCounts } from '../domain/import-job';
import { fileUnreadable } from '../domain/problems';
import { mappedColumns } from '../domain/mapped-columns';
import { withoutSecrets } from '../domain/secret-cells';
import type { DateFormat } from '../formats/file-format';
import { filledRows, type FileRows } from '../formats/read-csv';
import { rowBatches, type RowBatch } from '../formats/row-batches';
import { datesOfSheet } from '../formats/sheet-dates';
import type { Owners } from '../grpc/owners';
import { sendRows, type SendEnd, type SendOptions, type SentBatch } from '../grpc/send-rows';
import type { ImportJob, ImportOptions } from '../store/import-store';
import type { RowKey } from '../store/key-store';
import { callerOf, type ImportDependencies, type ImportRun } from './find-import-run';
import type { RowBudget } from './row-budget';

const modes = { insert: 'INSERT', update: 'UPDATE', upsert: 'UPSERT' } as const;

export const withDefaultOptions = (options: Partial<ImportOptions>): ImportOptions => ({
  mode: options.mode ?? 'upsert',
  onError: options.onError ?? 'continue',
  ...(options.sheet === undefined ? {} : { sheet: options.sheet }),
});

export interface SendFileOptions {
  /** Its options say which sheet the file is. */
  job: ImportJob;
  definition: Definition;
  caller: Caller;
  owners: Owners;
  file: FileRows;
  mode: ImportOptions['mode'];
  commit: Commit__Output;
  /** The range of the file; 0 where the whole file is one range. */
  range?: number;
  /** The duplicate keys of a batch, where they are known. */
  duplicatesOf?: SendOptions['duplicatesOf'];
  /** Batches up to this one are counted already. */
  after: number;
  signal: AbortSignal;
  /** How steps of a result are taken that others need not wait for. */
  inTurns: InTurns;
  /** Takes the failed rows of each batch as they are in the file, one after the other, before its result. */
  failedRows?: FailedRowTaker | undefined;
  onResult(result: BatchResult): Promise<boolean>;
}

export interface FailedRowTaker {
  /** Returns whether there is room for the next row; where not, `waitForRoom` comes before it. */
  add(row: FailedRowWithCells): boolean;
  waitForRoom(): Promise<void>;
}

/** The result of one batch, counted. */
export interface BatchResult {
  number: number;
  counts: RowCounts;
  keys: RowKey[];
  /** Whether all of its rows, and of those before it, have a result. */
  isWhole: boolean;
}

/** What is the same for all ways to send the rows of a job. */
export const commonSendOptions = (
  { owners, turns, budget }: ImportDependencies,
  { job, definition }: ImportRun,
  file: FileRows,
  signal: AbortSignal,
): Omit<SendFileOptions, 'commit' | 'after' | 'failedRows' | 'onResult'> => ({
  job,
  definition,
  caller: callerOf(job),
  owners,
  file: budget?.limit(file) ?? file,
  mode: withDefaultOptions(job.options).mode,
  signal,
  inTurns: inTurnsOf(turns, callerOf(job)),
});

/** How the sending of a file ended, and what to say where rows of it have no result. */
export interface SentFile {
  end: SendEnd;
  missingRows: string | undefined;
}

/** Sends the mapped columns of a job's file to the data owner. */
export async function sendFile(options: SendFileOptions): Promise<SentFile> {
  try {
    return await sendMapped(options);
  } finally {
    await options.file.close();
  }
}

async function sendMapped(options: SendFileOptions): Promise<SentFile> {
  const { job, definition, file } = options;
  const mapped = mappedColumns(job.mappings ?? [], file.headers);
  const positions = mapped.map(({ position }) => position);
  const columnByProperty = new Map(
    mapped.map(({ sourceColumn, targetProperty }) => [targetProperty, sourceColumn]),
  );
  const mask = withoutSecrets(definition, mapped);
  let missingRows: string | undefined;
  /** Of the batch whose result is next. */
  let failed = new FailedRowsOfBatch(columnByProperty, mask);
  const end = await sendRows({
    owner: options.owners.clientOf(definition),
    service: definition.owner,
    caller: options.caller,
    start: {
      definition: definition.name,
      jobId: job.id,
      columns: mapped.map(({ targetProperty }) => targetProperty),
      mode: modes[options.mode],
      commit: options.commit,
      range: options.range ?? 0,
      knowsDuplicates: options.duplicatesOf !== undefined,
      ...cellFormatOf(job, positions),
    },
    batches: rowBatches(file.rows, { positions, columnCount: file.headers.length }, options.after),
    duplicatesOf: options.duplicatesOf,
    inTurns: options.inTurns,
    onRefused: async (batch, refused, isLast) => {
      const { failedRows, inTurns } = options;
      const rows = failed.inOrder(batch, refused, isLast);
      const take = () => inTurns(takeInSteps(rows, (row) => failedRows?.add(row) ?? true));
      while (!(await take())) await failedRows?.waitForRoom();
    },
    onResult: async (sent) => {
      const result = countedResult(sent, failed.count);
      failed = new FailedRowsOfBatch(columnByProperty, mask);
      if (options.commit !== 'READ_KEYS') missingRows ??= missingRowsOf(sent.batch, result.counts);
      return options.onResult({ ...result, isWhole: missingRows === undefined });
    },
    signal: options.signal,
  });
  return { end, missingRows };
}

/** @throws Problem `import-file-unreadable` where rows of the file have no result */
export function requireAllRows({ missingRows }: Pick<SentFile, 'missingRows'>): void {
  if (missingRows !== undefined) throw fileUnreadable(missingRows);
}

/**
 * What to say of rows that are not imported, undefined where all are. A batch that is committed has its result from then.
 * Where that was by a version that divides the file otherwise, some of these rows were not among it, and would be lost.
 */
function missingRowsOf(
  { rowCount, firstRow, lastRow }: RowBatch,
  { totalRows }: RowCounts,
): string | undefined {
  const missing = rowCount - totalRows;
  return missing > 0
    ? `Another version of the platform imported the file in other parts: of the rows ${firstRow} to ${lastRow}, ${missing} were not imported. Undo this import and upload the file again.`
    : undefined;
}

/** The format in which the owner reads the cells. */
function cellFormatOf({ format, options }: ImportJob, positions: readonly number[]) {
  if (format.kind === 'xlsx') return withOrder(datesOfSheet(format, options.sheet));
  const { decimalSeparator, hasOtherDecimals, unclearColumns, currency } = format;
  return {
    ...(decimalSeparator ? { decimalSeparator } : {}),
    ...(hasOtherDecimals ? { hasOtherDecimals } : {}),
    ...(unclearColumns ? { unclearColumns: indexesOf(unclearColumns, positions) } : {}),
    ...(currency ? { currency } : {}),
    ...withOrder(format),
  };
}

const withOrder = ({ dateOrder }: DateFormat) => (dateOrder ? { dateOrder } : {});

/** Where columns of the file are among those that are sent. */
const indexesOf = (columns: readonly number[], positions: readonly number[]): number[] =>
  positions.flatMap((position, index) => (columns.includes(position) ? [index] : []));

const countedResult = (
  { batch, inserted, updated, skipped, keys }: SentBatch,
  failedRows: number,
): Omit<BatchResult, 'isWhole'> => ({
  number: batch.number,
  counts: {
    // A version before may have applied the batch, for which blank rows were rows.
    totalRows: inserted + updated + skipped + failedRows,
    insertedRows: inserted,
    updatedRows: updated,
    skippedRows: skipped,
    failedRows,
  },
  keys,
});

/** The failed rows of a batch, as they are in the file: those that were not sent, and those that its owner refused. */
class FailedRowsOfBatch {
  count = 0;
  /** How many of those that were not sent came already. */
  private unsent = 0;

  constructor(
    private readonly columnByProperty: ReadonlyMap<string, string>,
    private readonly mask: ReturnType<typeof withoutSecrets>,
  ) {}

  /** Those up to the last one that was refused, and with the last ones all. */
  *inOrder(
    batch: RowBatch,
    refused: readonly FailedRow[],
    isLast: boolean,
  ): Generator<FailedRowWithCells, void> {
    for (const row of refused) {
      yield* this.unsentBefore(row.rowNumber, batch);
      yield this.withCells(withFileColumns(row, this.columnByProperty), batch, true);
    }
    if (isLast) yield* this.unsentBefore(Infinity, batch);
  }

  private *unsentBefore(rowNumber: number, batch: RowBatch): Generator<FailedRowWithCells, void> {
    const { unreadableRows } = batch;
    while (this.unsent < unreadableRows.length && unreadableRows[this.unsent]! < rowNumber) {
      const unsent = unreadableRows[this.unsent++]!;
      // It has its errors at columns of the file, which may be called as other properties are.
      yield this.withCells(batch.unreadableRow(unsent), batch, false);
    }
  }

  private withCells(row: FailedRow, batch: RowBatch, isDivided: boolean): FailedRowWithCells {
    this.count++;
    const { cells, ...rest } = batch.cellsOf(row.rowNumber);
    return { ...row, ...rest, cells: this.mask(cells, isDivided) };
  }
}

export const addCounts = (left: RowCounts, right: RowCounts): RowCounts => ({
  totalRows: left.totalRows + right.totalRows,
  insertedRows: left.insertedRows + right.insertedRows,
  updatedRows: left.updatedRows + right.updatedRows,
  skippedRows: left.skippedRows + right.skippedRows,
  failedRows: left.failedRows + right.failedRows,
});

/** The counts of an import in a single transaction that was rolled back: all rows but the failed ones are skipped. */
export const countsAfterAbort = (totalRows: number, failedRows: number): RowCounts => ({
  totalRows,
  insertedRows: 0,
  updatedRows: 0,
  skippedRows: totalRows - failedRows,
  failedRows,
});

/** Reads the file to its end, as far as the budget goes. */
export async function countRows(file: FileRows, budget?: RowBudget): Promise<number> {
  let count = 0;
  const { rows } = budget?.limit(file) ?? file;
  for await (const piece of filledRows(rows)) count += piece.length;
  return count;
}
