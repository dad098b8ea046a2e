import { ImportJobStatus } from '@plinth/contracts/data-exchange/shapes';
import { importInWrongState } from './problems';

/** From which states each step is possible. A preview may follow the mapping and leaves the job mapped. */
const statesOf = {
  preview: ['Created', 'Previewed', 'Mapped'],
  'correct its format': ['Created', 'Previewed', 'Mapped'],
  'draft mappings': ['Previewed', 'Mapped'],
  'confirm mappings': ['Previewed', 'Mapped'],
  'dry-run': ['Mapped'],
  execute: ['Mapped'],
  cancel: ['Created', 'Previewed', 'Mapped', 'Executing'],
  undo: ['Completed', 'PartiallyCompleted', 'Failed', 'Cancelled'],
  'read its report': ['Completed', 'PartiallyCompleted', 'Failed', 'Cancelled'],
} as const satisfies Record<string, readonly ImportJobStatus[]>;

export type ImportStep = keyof typeof statesOf;

export const statesFor = (step: ImportStep): readonly ImportJobStatus[] => statesOf[step];

/** @throws Problem `import-in-wrong-state`. */
export function requireState(step: ImportStep, status: string): void {
  if (!statesFor(step).some((state) => state === status))
    throw importInWrongState(step, status, statesFor(step));
}

/** As `requireState`, for steps behind the end: an import that was cancelled before it ran has none. */
export function requireRun(step: ImportStep, job: StartedOrNot): void {
  requireState(step, neverRan(job) ? 'cancelled before it ran' : job.status);
}

interface StartedOrNot {
  status: string;
  executedAt: Date | null;
}

export const neverRan = ({ status, executedAt }: StartedOrNot): boolean =>
  status === 'Cancelled' && executedAt === null;

const finalStates: readonly string[] = statesOf['read its report'];

export const isFinal = (status: string): boolean => finalStates.includes(status);

export interface RowCounts {
  totalRows: number;
  insertedRows: number;
  updatedRows: number;
  skippedRows: number;
  failedRows: number;
}

export const noRows: RowCounts = {
  totalRows: 0,
  insertedRows: 0,
  updatedRows: 0,
  skippedRows: 0,
  failedRows: 0,
};

/** The final status of an import that was not cancelled and did not break: by the result of its rows. */
export function finalStatus({ totalRows, failedRows }: RowCounts, isAborted = false): ImportJobStatus {
  if (failedRows === 0) return ImportJobStatus.Completed;
  return isAborted || failedRows === totalRows ? ImportJobStatus.Failed : ImportJobStatus.PartiallyCompleted;
}

/** An ISO 8601 duration, such as `PT1H2M3.456S`. */
export function isoDuration(milliseconds: number): string {
  const total = Math.max(0, Math.round(milliseconds));
  const hours = Math.floor(total / 3_600_000);
  const minutes = Math.floor((total % 3_600_000) / 60_000);
  const seconds = (total % 60_000) / 1_000;
  return `PT${hours > 0 ? `${hours}H` : ''}${minutes > 0 ? `${minutes}M` : ''}${seconds}S`;
}
