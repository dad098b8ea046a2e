import type { Caller } from '@plinth/kernel/caller';
import type { Definition } from '../domain/definition';
import type { FailedRow } from '../domain/failed-row';
import { inColumnsOfFile } from '../domain/failed-row';
import type { RowCounts } from '../domain/import-job';
import { mappedColumns } from '../domain/mapping';
import type { FileFormat } from '../formats/file-format';
import type { FileRows } from '../formats/read-csv';
import { rowBatches, type RowBatch } from '../formats/row-batches';
import type { Owners } from '../grpc/owners';
import { sendRows, type Commit, type SendEnd, type SendOptions, type SentBatch } from '../grpc/send-rows';
import type { ImportJob, ImportOptions, StoredFailedRow } from '../store/import-store';
import type { RowKey } from '../store/key-store';

const modes = { insert: 'INSERT', update: 'UPDATE', upsert: 'UPSERT' } as const;

export const withDefaults = (options: Partial<ImportOptions>): ImportOptions => ({
  mode: options.mode ?? 'upsert',
  onError: options.onError ?? 'continue',
  ...(options.sheet === undefined ? {} : { sheet: options.sheet }),
});

export interface SendPlan {
  job: ImportJob;
  definition: Definition;
  caller: Caller;
  owners: Owners;
  file: FileRows;
  options: ImportOptions;
  commit: Commit;
  /** Of the file; the only one where it is not cut. */
  range?: number;
  /** Where repeated keys are known: those of a batch. */
  duplicatesOf?: SendOptions['duplicatesOf'];
  /** Batches up to this one are counted already. */
  after: number;
  signal: AbortSignal;
  onResult(result: CountedBatch): Promise<boolean>;
}

/** One batch, counted, with its failures in the words of the file. */
export interface CountedBatch {
  number: number;
  counts: RowCounts;
  failedRows: StoredFailedRow[];
  keys: RowKey[];
}

/** Sends the rows of a job's file to the owner of the data, as the job's mappings say. */
export async function sendFile(plan: SendPlan): Promise<SendEnd> {
  try {
    return await sendMapped(plan);
  } finally {
    await plan.file.close();
  }
}

function sendMapped(plan: SendPlan): Promise<SendEnd> {
  const { job, definition, file, options } = plan;
  const mapped = mappedColumns(job.mappings ?? [], file.headers);
  const positions = mapped.map(({ position }) => position);
  const columnByProperty = new Map(
    mapped.map(({ sourceColumn, targetProperty }) => [targetProperty, sourceColumn]),
  );
  return sendRows({
    owner: plan.owners.of(definition),
    area: definition.owner,
    caller: plan.caller,
    start: {
      definition: definition.name,
      jobId: job.id,
      columns: mapped.map(({ targetProperty }) => targetProperty),
      mode: modes[options.mode],
      commit: plan.commit,
      range: plan.range ?? 0,
      knowsDuplicates: plan.duplicatesOf !== undefined,
      ...cellFormatOf(job.format),
    },
    batches: rowBatches(file.rows, { positions, columnCount: file.headers.length }, plan.after),
    duplicatesOf: plan.duplicatesOf,
    onResult: (sent) => plan.onResult(count(sent, columnByProperty)),
    signal: plan.signal,
  });
}

/** How the owner is to read the cells. */
const cellFormatOf = (format: FileFormat) => ({
  ...(format.kind === 'csv' && format.decimalSeparator ? { decimalSeparator: format.decimalSeparator } : {}),
  ...(format.dateOrder ? { dateOrder: format.dateOrder } : {}),
});

function count(sent: SentBatch, columnByProperty: ReadonlyMap<string, string>): CountedBatch {
  const { batch, inserted, updated, skipped, failures, keys } = sent;
  return {
    number: batch.number,
    counts: {
      totalRows: batch.rowCount,
      insertedRows: inserted,
      updatedRows: updated,
      skippedRows: skipped,
      failedRows: failures.length,
    },
    failedRows: withCells(batch, failures, columnByProperty),
    keys,
  };
}

function withCells(
  batch: RowBatch,
  failures: readonly FailedRow[],
  columnByProperty: ReadonlyMap<string, string>,
) {
  if (failures.length === 0) return [];
  const cellsByNumber = batch.cellsOf(new Set(failures.map(({ rowNumber }) => rowNumber)));
  return failures.map((failure) => ({
    ...inColumnsOfFile(failure, columnByProperty),
    cells: cellsByNumber.get(failure.rowNumber) ?? [],
  }));
}

export const add = (left: RowCounts, right: RowCounts): RowCounts => ({
  totalRows: left.totalRows + right.totalRows,
  insertedRows: left.insertedRows + right.insertedRows,
  updatedRows: left.updatedRows + right.updatedRows,
  skippedRows: left.skippedRows + right.skippedRows,
  failedRows: left.failedRows + right.failedRows,
});

/** What becomes of an all-or-nothing import whose batch failed: its failed rows fail, all others are skipped. */
export const afterAbort = (totalRows: number, failedRows: number): RowCounts => ({
  totalRows,
  insertedRows: 0,
  updatedRows: 0,
  skippedRows: totalRows - failedRows,
  failedRows,
});

export async function countRows(file: FileRows): Promise<number> {
  let count = 0;
  for await (const piece of file.rows) count += piece.length;
  return count;
}
