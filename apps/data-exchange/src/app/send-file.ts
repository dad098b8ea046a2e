import type { FailedRow } from '@plinth/exchange/row-error';
import type { Caller } from '@plinth/kernel/caller';
import type { Commit__Output } from '@plinth/proto/generated/plinth/exchange/v1/Commit';
import type { Definition } from '../domain/definition';
import { withFileColumns, type FailedRowWithCells } from '../domain/failed-row';
import type { RowCounts } from '../domain/import-job';
import { mappedColumns } from '../domain/mapped-columns';
import type { FileFormat } from '../formats/file-format';
import { filledRows, type FileRows } from '../formats/read-csv';
import { rowBatches, type RowBatch } from '../formats/row-batches';
import type { Owners } from '../grpc/owners';
import { sendRows, type SendEnd, type SendOptions, type SentBatch } from '../grpc/send-rows';
import type { ImportJob, ImportOptions } from '../store/import-store';
import type { RowKey } from '../store/key-store';
import { callerOf, type ImportDependencies, type ImportRun } from './find-import-run';

const modes = { insert: 'INSERT', update: 'UPDATE', upsert: 'UPSERT' } as const;

export const withDefaultOptions = (options: Partial<ImportOptions>): ImportOptions => ({
  mode: options.mode ?? 'upsert',
  onError: options.onError ?? 'continue',
  ...(options.sheet === undefined ? {} : { sheet: options.sheet }),
});

export interface SendFileOptions {
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
  onResult(result: BatchResult): Promise<boolean>;
}

/** The result of one batch, counted, with its failed rows as they are in the file. */
export interface BatchResult {
  number: number;
  counts: RowCounts;
  failedRows: FailedRowWithCells[];
  keys: RowKey[];
}

/** What is the same for all ways to send the rows of a job. */
export const commonSendOptions = (
  { owners }: ImportDependencies,
  { job, definition }: ImportRun,
  file: FileRows,
  signal: AbortSignal,
): Omit<SendFileOptions, 'commit' | 'after' | 'onResult'> => ({
  job,
  definition,
  caller: callerOf(job),
  owners,
  file,
  mode: withDefaultOptions(job.options).mode,
  signal,
});

/** Sends the mapped columns of a job's file to the data owner. */
export async function sendFile(options: SendFileOptions): Promise<SendEnd> {
  try {
    return await sendMapped(options);
  } finally {
    await options.file.close();
  }
}

function sendMapped(options: SendFileOptions): Promise<SendEnd> {
  const { job, definition, file } = options;
  const mapped = mappedColumns(job.mappings ?? [], file.headers);
  const positions = mapped.map(({ position }) => position);
  const columnByProperty = new Map(
    mapped.map(({ sourceColumn, targetProperty }) => [targetProperty, sourceColumn]),
  );
  return sendRows({
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
      ...cellFormatOf(job.format, positions),
    },
    batches: rowBatches(file.rows, { positions, columnCount: file.headers.length }, options.after),
    duplicatesOf: options.duplicatesOf,
    onResult: (sent) => options.onResult(count(sent, columnByProperty)),
    signal: options.signal,
  });
}

/** The format in which the owner reads the cells. */
const cellFormatOf = (format: FileFormat, positions: readonly number[]) => ({
  ...(format.kind === 'csv' && format.decimalSeparator ? { decimalSeparator: format.decimalSeparator } : {}),
  ...(format.kind === 'csv' && format.hasOtherDecimals ? { hasOtherDecimals: true } : {}),
  ...(format.kind === 'csv' && format.unclearColumns
    ? { unclearColumns: indexesOf(format.unclearColumns, positions) }
    : {}),
  ...(format.kind === 'csv' && format.currency ? { currency: format.currency } : {}),
  ...(format.dateOrder ? { dateOrder: format.dateOrder } : {}),
});

/** Where columns of the file are among those that are sent. */
const indexesOf = (columns: readonly number[], positions: readonly number[]): number[] =>
  positions.flatMap((position, index) => (columns.includes(position) ? [index] : []));

function count(sent: SentBatch, columnByProperty: ReadonlyMap<string, string>): BatchResult {
  const { batch, inserted, updated, skipped, failedRows, keys } = sent;
  return {
    number: batch.number,
    counts: {
      totalRows: batch.rowCount,
      insertedRows: inserted,
      updatedRows: updated,
      skippedRows: skipped,
      failedRows: failedRows.length,
    },
    failedRows: withCells(batch, failedRows, columnByProperty),
    keys,
  };
}

function withCells(
  batch: RowBatch,
  failedRows: readonly FailedRow[],
  columnByProperty: ReadonlyMap<string, string>,
) {
  if (failedRows.length === 0) return [];
  // A row that was not sent has its errors at columns of the file, which may be called as other properties are.
  const unsent = new Set<FailedRow>(batch.unreadableRows);
  const cellsByNumber = batch.cellsOf(new Set(failedRows.map(({ rowNumber }) => rowNumber)));
  return failedRows.map((row) => ({
    ...(unsent.has(row) ? row : withFileColumns(row, columnByProperty)),
    cells: cellsByNumber.get(row.rowNumber) ?? [],
  }));
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

export async function countRows(file: FileRows): Promise<number> {
  let count = 0;
  for await (const piece of filledRows(file.rows)) count += piece.length;
  return count;
}
