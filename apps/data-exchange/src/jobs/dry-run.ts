import { REPORT_ROW_ERRORS_MAX } from '@plinth/contracts/data-exchange/shapes';
import type { Caller } from '@plinth/kernel/caller';
import type { BlobStore } from '@plinth/runtime/blob-store';
import type { Definition } from '../domain/definition';
import type { FailedRow } from '../domain/failed-row';
import { finalStatus, noRows } from '../domain/import-job';
import type { Owners } from '../grpc/owners';
import type { ImportJob, ImportOptions } from '../store/import-store';
import { add, afterAbort, countRows, sendFile } from './import-plan';
import { openRows } from './open-rows';

interface DryRun {
  job: ImportJob;
  definition: Definition;
  caller: Caller;
  options: ImportOptions;
  owners: Owners;
  blobs: BlobStore;
  signal: AbortSignal;
}

/** Does everything that an execution would do, in a transaction of the owner that is rolled back. */
export async function dryRun({ job, definition, caller, options, owners, blobs, signal }: DryRun) {
  const file = await openRows(job, blobs, options.sheet);
  const isAborting = options.onError === 'abort';
  let counts = noRows;
  const rowErrors: FailedRow[] = [];
  const end = await sendFile({
    job,
    definition,
    caller,
    owners,
    file,
    options,
    signal,
    commit: 'NEVER',
    after: 0,
    onResult: async (batch) => {
      counts = add(counts, batch.counts);
      rowErrors.push(...batch.failedRows.slice(0, REPORT_ROW_ERRORS_MAX - rowErrors.length));
      return !isAborting || batch.failedRows.length === 0;
    },
  });
  if (end !== 'sent')
    counts = afterAbort(await countRows(await openRows(job, blobs, options.sheet)), counts.failedRows);
  return { status: finalStatus(counts, end !== 'sent'), counts, rowErrors };
}
