import type { Api } from '@plinth/http/api';
import { accepted, events, file, noContent, type FilePart } from '@plinth/http/response';
import { entityTag } from '@plinth/kernel/entity-tag';
import { dataExchangeEndpoints, fileTypes } from '@plinth/contracts/data-exchange/endpoints';
import { parseSelection } from '@plinth/kernel/list-query';
import { newId } from '@plinth/kernel/uuid';
import { watchProgress } from '../app/watch-progress';
import type { Deps } from '../compose';
import { jobCaller, requirePermission, requireSight, widerPermissionOf } from '../domain/definition';
import { selectFields, withoutBrackets } from '../domain/export-job';
import { requireRoomForFiles, requireRoomForJob } from '../domain/tenant-quota';
import { definitionUnknown, exportExpired, exportNotReady } from '../domain/problems';
import type { ExportState } from '../store/export-store';
import { keptBytesOf } from '../store/kept-quota';
import { toExportJobResponse } from './export-job-response';

const { cancelExportJob, createExportJob, downloadExport, getExportJob, listExportJobs, watchExportJob } =
  dataExchangeEndpoints;

type Needs = Pick<
  Deps,
  'config' | 'owners' | 'exports' | 'usage' | 'kept' | 'progress' | 'starter' | 'blobs' | 'clock'
>;

export function mountExportJobs(api: Api, deps: Needs): void {
  const { config, owners, exports, usage, kept, progress, starter, blobs, clock } = deps;

  api.on(listExportJobs, async ({ list, caller, tenantId }) => {
    const { rows, totalCount } = await exports.list(tenantId, list);
    const toItem = (job: ExportState) => toExportJobResponse(job, caller);
    return list.toPage(rows, totalCount, toItem, ({ createdAt, id }) => [createdAt.toISOString(), id]);
  });

  api.on(createExportJob, async ({ body, caller }) => {
    const definition = await owners.find(body.definitionName);
    if (!definition?.exportable) throw definitionUnknown(body.definitionName);
    requirePermission(caller, definition.permission);
    const selection = {
      sort: body.sort ?? null,
      filter: withoutBrackets('filter', body.filter),
      presets: withoutBrackets('presets', body.presets),
      search: body.search ?? null,
    };
    const fields = selectFields(definition, body.selectedFields ?? []);
    // The owner parses it again when the job runs; here an invalid request is refused before there is a job.
    parseSelection(selection, definition.listRules);
    const request = { fields, includeId: body.includeIdForImport, selection };
    const stored = await usage.of(caller.tenantId);
    await starter.requireReady();
    const job = await exports.insert(
      {
        tenantId: caller.tenantId,
        id: newId(),
        definitionName: definition.name,
        permission: definition.permission,
        widerPermission: widerPermissionOf(definition, caller),
        format: body.format,
        request,
        caller: jobCaller(caller),
        createdBy: caller.userId,
        createdAt: clock.now(),
        operationId: caller.operationId ?? null,
        operationBodyHash: caller.operationBodyHash,
      },
      // Not of a retry: its job has its room already.
      (unfinishedJobs) => {
        requireRoomForFiles(config, stored, 1, clock.now());
        requireRoomForJob(config, unfinishedJobs);
        kept.take(caller.tenantId, keptBytesOf(request));
      },
    );
    await starter.startExport(job);
    return accepted(toExportJobResponse(job, caller), `/exports/jobs/${job.id}`);
  });

  api.on(getExportJob, async ({ params, caller, tenantId }) =>
    toExportJobResponse(await exports.getState(tenantId, params.jobId), caller),
  );

  api.on(cancelExportJob, async ({ params, caller, tenantId }) => {
    const { permission } = await exports.getState(tenantId, params.jobId);
    requirePermission(caller, permission);
    await exports.cancel(caller, params.jobId, clock.now());
    return noContent();
  });

  api.on(watchExportJob, async ({ params, caller, tenantId, signal }) => {
    requireSight(caller, await exports.getState(tenantId, params.jobId));
    const read = async () => {
      const job = await exports.getState(tenantId, params.jobId);
      return {
        status: job.status,
        phase: job.phase ?? undefined,
        isFinal: ['Completed', 'Failed'].includes(job.status),
        rowsDone: job.rowsDone,
        rowsFailed: 0,
        startedAt: job.createdAt,
        endedAt: job.completedAt,
        share: null,
      };
    };
    const jobKey = `export:${tenantId}:${params.jobId}`;
    return events(watchProgress(progress, { jobKey, read, caller, clock, signal }));
  });

  api.on(downloadExport, async ({ params, caller, tenantId }) => {
    const job = await exports.getState(tenantId, params.jobId);
    requireSight(caller, job);
    if (job.status !== 'Completed' || job.blobKey === null) throw exportNotReady(job.status);
    if (job.fileRemovedAt !== null) throw exportExpired(job.fileName);
    const { blobKey, fileName, format, fileSizeBytes } = job;
    const content = { sizeBytes: fileSizeBytes!, open: (part?: FilePart) => blobs.get(blobKey, part) };
    return file({ content, name: fileName!, type: fileTypes[format] }, { etag: entityTag(job.id) });
  });
}
