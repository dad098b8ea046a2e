import type { Api } from '@plinth/http/api';
import { created, events, noContent } from '@plinth/http/response';
import { dataExchangeEndpoints } from '@plinth/contracts/data-exchange/endpoints';
import { runUnlessRecorded } from '@plinth/runtime/postgres/run-once';
import { receiveUpload } from '../app/receive-upload';
import { watchProgress } from '../app/watch-progress';
import type { Deps } from '../compose';
import { requirePermission, requireSight } from '../domain/definition';
import { isFinal, requireState } from '../domain/import-job';
import { importResponse } from './import-response';

const { cancelImport, getImport, listImports, uploadImport, watchImport } = dataExchangeEndpoints;

type Needs = Pick<
  Deps,
  | 'config'
  | 'db'
  | 'owners'
  | 'imports'
  | 'unrecordedBlobs'
  | 'undos'
  | 'usage'
  | 'kept'
  | 'turns'
  | 'arriving'
  | 'detectionPlaces'
  | 'progress'
  | 'blobs'
  | 'clock'
  | 'cultures'
>;

export function mountImports(api: Api, deps: Needs): void {
  const { db, imports, undos, progress, blobs, clock } = deps;
  const toImportResponse = importResponse(deps);

  api.on(listImports, async ({ list, tenantId }) => {
    const { rows, totalCount } = await imports.list(tenantId, list);
    const states = await undos.states(
      tenantId,
      rows.map(({ id }) => id),
    );
    return list.toPage(
      rows,
      totalCount,
      (job) => toImportResponse(job, states.get(job.id)),
      ({ createdAt, id }) => [createdAt.toISOString(), id],
    );
  });

  api.on(uploadImport, async ({ request, caller, signal }) => {
    const job = await receiveUpload(request, caller, deps, signal);
    return created(toImportResponse(job), `/imports/${job.id}`);
  });

  api.on(getImport, async ({ params, tenantId }) => {
    const job = await imports.getState(tenantId, params.jobId);
    const undo = isFinal(job.status) ? await undos.find(tenantId, job.id) : undefined;
    return toImportResponse(job, undo);
  });

  api.on(cancelImport, async ({ params, caller, tenantId }) => {
    const { jobId } = params;
    const job = await imports.getState(tenantId, jobId);
    requirePermission(caller, job.permission);
    await runUnlessRecorded(db, caller, async () => {
      requireState('cancel', job.status);
      const now = clock.now();
      const change = { by: caller.userId, at: now, operation: caller };
      if (job.status !== 'Executing' && (await imports.cancelBeforeExecution(tenantId, jobId, now, change)))
        return blobs.delete(job.blobKey);
      await imports.advance(tenantId, jobId, 'cancel', { cancelRequestedAt: now }, { change });
    });
    return noContent();
  });

  api.on(watchImport, async ({ params, caller, tenantId, signal }) => {
    requireSight(caller, await imports.getState(tenantId, params.jobId));
    const read = async () => {
      const job = await imports.getState(tenantId, params.jobId);
      return {
        status: job.status,
        isFinal: isFinal(job.status),
        rowsDone: job.totalRows,
        rowsFailed: job.failedRows,
        startedAt: job.executedAt,
        endedAt: job.completedAt,
        share: job.fileSizeBytes > 0 ? Math.min(1, job.bytesDone / job.fileSizeBytes) : null,
      };
    };
    const jobKey = `import:${tenantId}:${params.jobId}`;
    return events(watchProgress(progress, { jobKey, read, caller, clock, signal }));
  });
}
