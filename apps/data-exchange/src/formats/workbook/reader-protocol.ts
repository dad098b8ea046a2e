import type { SheetRow } from './sheet-rows.ts';

/** What the process that reads a workbook is told, as the one argument of its program. */
export interface ReaderTask {
  /** Name of a sheet; the first one where there is none. */
  sheet?: string | undefined;
  sizeBytes: number;
  columnsMax: number;
}

/** Where it finds its files: the workbook, and one to write to. */
export const WORKBOOK_FD = 3;
export const SCRATCH_FD = 4;

/** One line of its answer: rows, and which part of the sheet they end. */
export interface ReaderPiece {
  rows: SheetRow[];
  share: number;
}

/** It ended because the workbook cannot be read; the reason stands on its standard error. */
export const UNREADABLE_EXIT_CODE = 3;
