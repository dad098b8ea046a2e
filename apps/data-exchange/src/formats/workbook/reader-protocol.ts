import type { SheetRow } from './sheet-rows.ts';

/** The task of the process that reads a workbook, as the one argument of its program. */
export interface ReaderTask {
  /** Name of a sheet; the first one where there is none. */
  sheet?: string | undefined;
  sizeBytes: number;
  columnsMax: number;
}

/** Where it finds its files: the workbook, and one to write to. */
export const WORKBOOK_FD = 3;
export const SCRATCH_FD = 4;

/** Rows, and the share of the sheet up to their end. */
export interface ReaderPiece {
  rows: SheetRow[];
  share: number;
}

/** One line of its output, as JSON. Without the last one rows are missing. */
export type ReaderLine = ReaderPiece | 'end';

/** The workbook cannot be read; the reason is on standard error. */
export const UNREADABLE_EXIT_CODE = 3;
/** The file to write to cannot be written, which says nothing of the workbook. */
export const SCRATCH_FAILED_EXIT_CODE = 4;
