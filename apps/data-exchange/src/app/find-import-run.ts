import { ImportJobStatus } from '@plinth/contracts/data-exchange/shapes';
import type { Clock } from '@plinth/kernel/clock';
import { Problem } from '@plinth/kernel/problem';
import type { RowQuota } from '@plinth/http/row-quota';
import type { EventLoopTurns, FairPlaces } from '@plinth/runtime/process/fair-places';
import type { Definition } from '../domain/definition';
import type { RowCounts } from '../domain/import-job';
import { definitionNotFound } from '../domain/problems';
import type { Owners } from '../grpc/owners';
import type { ImportJob, ImportStore } from '../store/import-store';
import type { KeyStore } from '../store/key-store';
import type { RangeStore } from '../store/range-store';
import type { RowSource } from './open-rows';
import type { RowBudget } from './row-budget';

export interface ImportDependencies extends RowSource {
  imports: ImportStore;
  ranges: RangeStore;
  keys: KeyStore;
  owners: Owners;
  clock: Clock;
  /** The bytes that a tenant keeps of its imports. */
  kept: Pick<RowQuota, 'hasRoomNow' | 'recordWritten'>;
  /** Of the event loop of the process. */
  turns: EventLoopTurns;
  /** Of the process, for batches whose failed rows take very much memory. */
  largeBatches: FairPlaces;
  /** How much of files may be read, where others wait for the place of this work. */
  budget?: RowBudget | undefined;
}

/** A job that executes, and the definition of its rows. */
export interface ImportRun {
  job: ImportJob;
  definition: Definition;
}

/** Returns undefined for a job that has ended, such as by another run, or whose start a restored database does not know. */
export async function findImportRun(
  { imports, owners }: Pick<ImportDependencies, 'imports' | 'owners'>,
  tenantId: string,
  jobId: string,
): Promise<ImportRun | undefined> {
  const job = await imports.get(tenantId, jobId);
  if (job.status !== ImportJobStatus.Executing) return undefined;
  const definition = await owners.find(job.definitionName);
  if (!definition) throw definitionNotFound(job.definitionName);
  return { job, definition };
}

export function callerOf({ caller }: ImportJob): NonNullable<ImportJob['caller']> {
  if (!caller) throw new Problem('internal', 'The job has no caller.');
  return caller;
}

export const countsOf = ({
  totalRows,
  insertedRows,
  updatedRows,
  skippedRows,
  failedRows,
}: ImportJob): RowCounts => ({ totalRows, insertedRows, updatedRows, skippedRows, failedRows });
