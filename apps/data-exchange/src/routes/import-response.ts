import type { ImportJobStatus } from '@plinth/contracts/data-exchange/shapes';
import type { Deps } from '../compose';
import { undoableUntil } from '../domain/import-undo';
import type { ImportState } from '../store/import-store';
import type { UndoState } from '../store/import-undo-store';

/** How jobs are answered by a service that undoes imports as long as it is configured to. */
export const importResponse =
  ({ clock, config }: Pick<Deps, 'clock' | 'config'>) =>
  (job: ImportState, undo: UndoState | null = null) => ({
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
    undoStatus: undo?.status ?? null,
    undoableUntil: undoableUntil(job, undo, clock.now(), config.EXCHANGE_UNDO_DAYS),
  });
