import { ImportUndoStatus } from '@plinth/contracts/data-exchange/shapes';
import { isFinal, neverRan, requireRun } from './import-job';
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
  if (now > endOfUndo(job.completedAt ?? now, undoDays)) throw importUndoExpired(undoDays);
}

/** Whether an undo is over that has done what it can: others may undo rows that it was refused. */
export const isOver = ({ status, refusedRows }: { status: string; refusedRows: number }): boolean =>
  status !== ImportUndoStatus.Failed && !(status === ImportUndoStatus.PartiallyUndone && refusedRows > 0);

/** Until when an undo can be asked for; null where none can be, also because that time is over. */
export function undoableUntil(
  job: FinishedImport,
  undo: { status: string; refusedRows: number } | null,
  now: Date,
  undoDays: number,
): Date | null {
  if ((undo && isOver(undo)) || !isFinal(job.status) || neverRan(job) || !job.completedAt) return null;
  const end = endOfUndo(job.completedAt, undoDays);
  return now > end ? null : end;
}

const endOfUndo = (completedAt: Date, undoDays: number) =>
  new Date(completedAt.getTime() + undoDays * DAY_MILLISECONDS);

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
