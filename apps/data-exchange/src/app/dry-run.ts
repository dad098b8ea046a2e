import { REPORT_ROW_ERRORS_MAX } from '@plinth/contracts/data-exchange/shapes';
import type { Caller } from '@plinth/kernel/caller';
import type { BlobStore } from '@plinth/runtime/blobs/blob-store';
import type { Definition } from '../domain/definition';
import { ErrorCounter } from '../domain/error-groups';
import { REPORT_BYTES_MAX, type FailedRowWithCells } from '../domain/failed-row';
import { finalStatus, noRows } from '../domain/import-job';
import type { Owners } from '../grpc/owners';
import type { ImportJob, ImportOptions } from '../store/import-store';
import { addCounts, countsAfterAbort, countRows, sendFile } from './send-file';
import { openRows } from './open-rows';

interface DryRun {
  job: ImportJob;
  definition: Definition;
  caller: Caller;
  options: ImportOptions;
  /** Whether the failed rows come with their cells. */
  withCells: boolean;
  owners: Owners;
  blobs: BlobStore;
  signal: AbortSignal;
}

/** Runs a complete import of which the owner undoes each batch as soon as it knows what becomes of its rows. */
export async function dryRun({ job, definition, caller, options, withCells, owners, blobs, signal }: DryRun) {
  const reading = { sheet: options.sheet, signal };
  const file = await openRows(job, blobs, reading);
  const isAborting = options.onError === 'abort';
  let counts = noRows;
  const failedRows: FailedRowWithCells[] = [];
  const groups = new ErrorCounter();
  let bytes = 0;
  const end = await sendFile({
    job,
    definition,
    caller,
    owners,
    file,
    mode: options.mode,
    signal,
    commit: 'NEVER',
    after: 0,
    onResult: async (batch) => {
      counts = addCounts(counts, batch.counts);
      for (const failed of batch.failedRows) {
        groups.add(failed);
        const row = withCells ? failed : { ...failed, cells: [] };
        bytes += JSON.stringify(row).length;
        if (failedRows.length < REPORT_ROW_ERRORS_MAX && bytes <= REPORT_BYTES_MAX) failedRows.push(row);
      }
      return !isAborting || batch.failedRows.length === 0;
    },
  });
  if (end !== 'sent')
    counts = countsAfterAbort(await countRows(await openRows(job, blobs, reading)), counts.failedRows);
  const { headers } = file;
  return {
    status: finalStatus(counts, end !== 'sent'),
    counts,
    headers,
    failedRows,
    groups: groups.result(),
  };
}
