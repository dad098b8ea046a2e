import type { ImportJobStatus, ImportUndoStatus } from '@plinth/contracts/data-exchange/shapes';
import type { ImportJob } from '../store/import-store';

export const toImportResponse = (job: ImportJob, undoStatus: ImportUndoStatus | null = null) => ({
  id: job.id,
  definitionName: job.definitionName,
  originalFileName: job.originalFileName,
  mimeType: job.mimeType,
  fileSizeBytes: job.fileSizeBytes,
  status: job.status as ImportJobStatus,
  createdAt: job.createdAt,
  completedAt: job.completedAt,
  undoStatus,
});
