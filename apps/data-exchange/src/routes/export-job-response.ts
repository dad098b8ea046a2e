import { holds, type Caller } from '@plinth/kernel/caller';
import type { ExportState } from '../store/export-store';

/** Only callers who may see all rows get their number. */
export const toExportJobResponse = (job: ExportState, caller: Caller) => ({
  id: job.id,
  definitionName: job.definitionName,
  format: job.format,
  status: job.status as 'Queued' | 'Exporting' | 'Completed' | 'Failed',
  phase: job.phase,
  rowCount: seesAllRows(job, caller) ? job.rowCount : null,
  fileName: job.fileName,
  errorMessage: job.errorMessage,
  createdAt: job.createdAt,
  completedAt: job.completedAt,
});

const seesAllRows = ({ permission, widerPermission }: ExportState, caller: Caller): boolean =>
  holds(caller, permission) && (widerPermission === null || holds(caller, widerPermission));
