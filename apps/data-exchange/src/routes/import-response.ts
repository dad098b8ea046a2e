import type { ImportJobStatus, ImportUndoStatus } from '@plinth/contracts/data-exchange/shapes';
import type { ImportState } from '../store/import-store';

export const toImportResponse = (job: ImportState, undoStatus: ImportUndoStatus | null = null) => ({
  id: job.id,
  definitionName: job.definitionName,
  entityTypeName: job.entityType,
  originalFileName: job.originalFileName,
  mimeType: job.mimeType,
  fileSizeBytes: job.fileSizeBytes,
  status: job.status as ImportJobStatus,
  createdAt: job.createdAt,
  completedAt: job.completedAt,
  modifiedAt: job.modifiedAt,
  modifiedBy: job.modifiedBy,
  concurrencyStamp: String(job.version),
  undoStatus,
});
