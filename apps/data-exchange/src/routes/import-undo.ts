import type { Api } from '@plinth/http/api';
import { accepted, events } from '@plinth/http/response';
import { dataExchangeEndpoints } from '@plinth/contracts/data-exchange/endpoints';
import { isRetry, retriedOr, starterOf } from '../app/job-starter';
import { watchProgress } from '../app/watch-progress';
import type { Deps } from '../compose';
import { requireSight } from '../domain/definition';
import { isOver, requireUndoable, undoneRows } from '../domain/import-undo';
import {
  definitionNotFound,
  importAlreadyUndone,
  importNotUndoable,
  importNotUndone,
} from '../domain/problems';
import { requireRoomForJob } from '../domain/tenant-quota';
import type { ImportUndo } from '../store/import-undo-store';
import { toUndoResponse } from './import-undo-response';

const { getImportUndo, undoImport, watchImportUndo } = dataExchangeEndpoints;

type Needs = Pick<Deps, 'config' | 'owners' | 'imports' | 'undos' | 'progress' | 'starter' | 'clock'>;

export function mountImportUndo(
  api: Api,
  { config, owners, imports, undos, progress, starter, clock }: Needs,
): void {
  /** @throws Problem `import-job-not-found`, `import-not-undone`. */
  const get = async (tenantId: string, jobId: string) => {
    const job = await imports.getState(tenantId, jobId);
    const undo = await undos.find(tenantId, jobId);
    if (!undo) throw importNotUndone(jobId);
    return { job, undo };
  };

  api.on(undoImport, async ({ params, caller }) => {
    const { tenantId } = caller;
    const job = await imports.getState(tenantId, params.jobId);
    requireSight(caller, job);
    const location = `/imports/${job.id}/undo`;
    let earlier: ImportUndo | undefined;
    const findBegun = async () => {
      earlier = await undos.find(tenantId, job.id);
      return earlier && isRetry(caller, earlier.caller) ? earlier : undefined;
    };
    const begin = async () => {
      if (earlier && isOver(earlier)) throw importAlreadyUndone(earlier.status);
      requireUndoable(job, clock.now(), config.EXCHANGE_UNDO_DAYS);
      const definition = await owners.find(job.definitionName);
      if (!definition) throw definitionNotFound(job.definitionName);
      if (!definition.undoable) throw importNotUndoable(definition.name);
      await starter.requireReady();
      const by = { caller: starterOf(caller), at: clock.now() };
      const undo = await undos.begin(tenantId, job.id, by, (unfinishedJobs) =>
        requireRoomForJob(config, unfinishedJobs),
      );
      await starter.startUndo({ tenantId, id: job.id, requestedAt: undo.requestedAt });
      return undo;
    };
    const undo = await retriedOr(findBegun, begin);
    return accepted(toUndoResponse(undo, []), location);
  });

  api.on(getImportUndo, async ({ params, caller }) => {
    const { job, undo } = await get(caller.tenantId, params.jobId);
    requireSight(caller, job);
    return toUndoResponse(undo, await undos.keptRows(job.tenantId, job.id));
  });

  api.on(watchImportUndo, async ({ params, caller, tenantId, signal }) => {
    requireSight(caller, (await get(tenantId, params.jobId)).job);
    const read = async () => {
      const { job, undo } = await get(tenantId, params.jobId);
      const rowsDone = undoneRows(undo);
      const rowCount = job.insertedRows + job.updatedRows;
      return {
        status: undo.status,
        isFinal: undo.status !== 'Undoing',
        rowsDone,
        rowsFailed: undo.keptRows,
        startedAt: undo.requestedAt,
        endedAt: undo.completedAt,
        share: rowCount > 0 ? Math.min(1, rowsDone / rowCount) : null,
      };
    };
    const jobKey = `undo:${tenantId}:${params.jobId}`;
    return events(watchProgress(progress, { jobKey, read, caller, clock, signal }));
  });
}
