import { ImportUndoStatus } from '@plinth/contracts/data-exchange/shapes';
import { requireRun } from './import-job';
import { importUndoExpired } from './problems';

const DAY_MILLISECONDS = 86_400_000;

interface FinishedImport {
  status: string;
  executedAt: Date | null;
  completedAt: Date | null;
}

/** An import that ran can be undone however it ended. @throws Problem `import-in-wrong-state`, `import-undo-expired`. */
export function requireUndoable(job: FinishedImport, now: Date, undoDays: number): void {
  requireRun('undo', job);
  const age = now.getTime() - (job.completedAt ?? now).getTime();
  if (age > undoDays * DAY_MILLISECONDS) throw importUndoExpired(undoDays);
}

export interface UndoCounts {
  removedRows: number;
  restoredRows: number;
  /** Inserted rows that were deleted since. */
  goneRows: number;
  keptRows: number;
}

export const undoneRows = ({ removedRows, restoredRows, goneRows, keptRows }: UndoCounts): number =>
  removedRows + restoredRows + goneRows + keptRows;

export const undoStatus = ({ keptRows }: UndoCounts): ImportUndoStatus =>
  keptRows === 0 ? ImportUndoStatus.Undone : ImportUndoStatus.PartiallyUndone;
