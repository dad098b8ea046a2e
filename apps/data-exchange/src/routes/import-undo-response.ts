import type { ImportUndo, KeptRow } from '../store/import-undo-store';

export const toUndoResponse = (undo: ImportUndo, kept: KeptRow[]) => ({
  importJobId: undo.jobId,
  status: undo.status,
  removedRows: undo.removedRows,
  restoredRows: undo.restoredRows,
  goneRows: undo.goneRows,
  keptRows: undo.keptRows,
  kept,
  requestedBy: undo.caller.userId,
  requestedAt: undo.requestedAt,
  completedAt: undo.completedAt,
  errorMessage: undo.errorMessage,
});
