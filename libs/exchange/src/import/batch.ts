import type { RowError } from '../row-error';
import type { RawRow } from './convert-rows';

/** The result of one batch. The import ledger stores it, so that a repeated batch gets the same result. */
export interface BatchOutcome {
  inserted: number;
  updated: number;
  skipped: number;
  failed: number;
  errors: RowError[];
  /** Row numbers and their keys, where the session only reads keys. */
  keys?: [rowNumber: number, key: string][];
}

/** A batch that was written, before its transaction ends. */
export interface AppliedBatch {
  outcome: BatchOutcome;
  /** About how many bytes the ledger keeps of it, beside its outcome. */
  keptBytes: number;
}

/** Rows of a file that are written together. */
export interface Batch {
  number: number;
  rows: readonly RawRow[];
  /** Rows of the batch, each with the first row of the file that has the same key. */
  duplicates: readonly (readonly [row: number, first: number])[];
}
