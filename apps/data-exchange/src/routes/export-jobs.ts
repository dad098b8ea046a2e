import type { Api } from '@plinth/conventions/api';
import { accepted, events, file, noContent } from '@plinth/conventions/reply';
import {
  cancelExportJob,
  createExportJob,
  downloadExport,
  fileTypes,
  getExportJob,
  listExportJobs,
  watchExportJob,
} from '@plinth/contracts/data-exchange/endpoints';
import { holds, type Caller } from '@plinth/kernel/caller';
import { parseSelection } from '@plinth/kernel/list-query';
import { invalid } from '@plinth/kernel/problem';
import { newId } from '@plinth/kernel/uuid';
import type { Deps } from '../compose';
import { actorOf, requirePermission, widerPermissionOf, type Definition } from '../domain/definition';
import { withoutBrackets } from '../domain/export-job';
import { definitionUnknown, exportExpired, exportNotReady } from '../domain/problems';
import { progressEvents } from '../domain/progress';
import type { ExportJob } from '../store/export-store';

type Needs = Pick<Deps, 'owners' | 'exports' | 'starter' | 'blobs' | 'clock'>;

export function mountExportJobs(api: Api, { owners, exports, starter, blobs, clock }: Needs): void {
  api.on(listExportJobs, async ({ list, caller, tenantId }) => {
    const { rows, totalCount } = await exports.list(tenantId, list);
    const toItem = (job: ExportJob) => toResponse(job, caller);
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
    parseSelection(selection, definition.listRules);
    await starter.requireReady();
    const job = await exports.insert({
      tenantId: caller.tenantId,
      id: newId(),
      definitionName: definition.name,
      permission: definition.permission,
      widerPermission: widerPermissionOf(definition, caller),
      format: body.format,
      request: { fields, includeId: body.includeIdForImport, selection },
      caller: actorOf(caller),
      createdBy: caller.userId,
      createdAt: clock.now(),
      operationId: caller.operationId ?? null,
    });
    await starter.startExport(job);
    return accepted(toResponse(job, caller), `/exports/jobs/${job.id}`);
  });

  api.on(getExportJob, async ({ params, caller, tenantId }) =>
    toResponse(await exports.get(tenantId, params.jobId), caller),
  );

  api.on(cancelExportJob, async ({ params, tenantId }) => {
    await exports.cancel(tenantId, params.jobId, clock.now());
    return noContent();
  });

  api.on(watchExportJob, async ({ params, caller, tenantId, signal }) => {
    const { widerPermission } = await exports.get(tenantId, params.jobId);
    if (widerPermission !== null) requirePermission(caller, widerPermission);
    const read = async () => {
      const job = await exports.get(tenantId, params.jobId);
      return {
        status: job.status,
        isFinal: ['Completed', 'Failed'].includes(job.status),
        rowsDone: job.rowsDone,
        rowsFailed: 0,
        startedAt: job.createdAt,
        endedAt: job.completedAt,
        share: null,
      };
    };
    return events(progressEvents(read, clock, signal));
  });

  api.on(downloadExport, async ({ params, caller, tenantId }) => {
    const job = await exports.get(tenantId, params.jobId);
    requirePermission(caller, job.permission);
    if (job.widerPermission !== null) requirePermission(caller, job.widerPermission);
    if (job.status !== 'Completed' || job.blobKey === null) throw exportNotReady(job.status);
    if (job.fileRemovedAt !== null) throw exportExpired(job.fileName);
    return file({
      content: await blobs.get(job.blobKey),
      name: job.fileName!,
      type: fileTypes[job.format],
      sizeBytes: job.fileSizeBytes!,
    });
  });
}

/** Silences, row 33: none selected is all; an unknown field is refused. */
export function selectFields({ fields }: Definition, selected: readonly string[]): string[] {
  const known = fields.map(({ propertyPath }) => propertyPath);
  if (selected.length === 0) return known;
  const unknown = selected.flatMap((property, index) => (known.includes(property) ? [] : [index]));
  if (unknown.length > 0) {
    const errors = Object.fromEntries(unknown.map((index) => [`selectedFields[${index}]`, 'Enum' as const]));
    throw invalid(errors, `There is no field "${selected[unknown[0]!]}".`);
  }
  const repeated = selected.findIndex((property, index) => selected.indexOf(property) !== index);
  if (repeated >= 0)
    throw invalid(
      { [`selectedFields[${repeated}]`]: 'Unique' },
      `"${selected[repeated]}" is selected twice.`,
    );
  return [...selected];
}

/** How many rows there are is told to those only who see all of them. */
const toResponse = (job: ExportJob, caller: Caller) => ({
  id: job.id,
  definitionName: job.definitionName,
  format: job.format,
  status: job.status as 'Queued' | 'Exporting' | 'Completed' | 'Failed',
  rowCount: job.widerPermission === null || holds(caller, job.widerPermission) ? job.rowCount : null,
  fileName: job.fileName,
  errorMessage: job.errorMessage,
  createdAt: job.createdAt,
  completedAt: job.completedAt,
});
