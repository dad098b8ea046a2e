import { REPORT_ROW_ERRORS_MAX } from '@plinth/contracts/data-exchange/shapes';
import { inTurnsOf } from '@plinth/exchange/in-turns';
import type { Caller } from '@plinth/kernel/caller';
import type { EventLoopTurns } from '@plinth/runtime/process/fair-places';
import type { Definition } from '../domain/definition';
import { ErrorCounter } from '../domain/error-groups';
import { REPORT_BYTES_MAX, type FailedRowWithCells } from '../domain/failed-row';
import { finalStatus, noRows } from '../domain/import-job';
import type { Owners } from '../grpc/owners';
import type { ImportJob, ImportOptions } from '../store/import-store';
import { addCounts, countsAfterAbort, countRows, requireAllRows, sendFile } from './send-file';
import { openRows, type RowSource } from './open-rows';

interface DryRun extends RowSource {
  job: ImportJob;
  definition: Definition;
  caller: Caller;
  options: ImportOptions;
  /** Whether the failed rows come with their cells. */
  withCells: boolean;
  owners: Owners;
  turns: EventLoopTurns;
  signal: AbortSignal;
}

/** Runs a complete import of which the owner undoes each batch as soon as it knows what becomes of its rows. */
export async function dryRun({ job: mapped, definition, caller, options, withCells, ...deps }: DryRun) {
  const { owners, turns, signal, ...source } = deps;
  const inTurns = inTurnsOf(turns, caller);
  // As an execution has them, which takes none of a draft.
  const job = { ...mapped, options };
  const file = await openRows(job, source, { signal });
  const isAborting = options.onError === 'abort';
  let counts = noRows;
  const failedRows: FailedRowWithCells[] = [];
  const groups = new ErrorCounter();
  let bytes = 0;
  const report = (failed: FailedRowWithCells): void => {
    groups.add(failed);
    if (failedRows.length === REPORT_ROW_ERRORS_MAX || bytes > REPORT_BYTES_MAX) return;
    const row = withCells ? failed : { ...failed, cells: [] };
    bytes += JSON.stringify(row).length;
    if (bytes <= REPORT_BYTES_MAX) failedRows.push(row);
  };
  const { end, ...sent } = await sendFile({
    job,
    definition,
    caller,
    owners,
    file,
    mode: options.mode,
    signal,
    inTurns,
    commit: 'NEVER',
    after: 0,
    failedRows: {
      // What a report has no room for is not kept.
      add: (row) => {
        report(row);
        return true;
      },
      waitForRoom: async () => undefined,
    },
    onResult: async (batch) => {
      counts = addCounts(counts, batch.counts);
      return !isAborting || batch.counts.failedRows === 0;
    },
  });
  requireAllRows(sent);
  if (end !== 'sent')
    counts = countsAfterAbort(await countRows(await openRows(job, source, { signal })), counts.failedRows);
  const { headers } = file;
  return {
    status: finalStatus(counts, end !== 'sent'),
    counts,
    headers,
    failedRows,
    groups: groups.result(),
  };
}
