import type { Clock } from '@plinth/kernel/clock';
import { Problem } from '@plinth/kernel/problem';
import type { BlobStore } from '@plinth/runtime/blob-store';
import type { Definition } from '../domain/definition';
import { isFinal, type RowCounts } from '../domain/import-job';
import { definitionNotFound } from '../domain/problems';
import type { Owners } from '../grpc/owners';
import type { ImportJob, ImportStore } from '../store/import-store';
import type { KeyStore } from '../store/key-store';
import type { RangeStore } from '../store/range-store';
import { withDefaults, type SendPlan } from './import-plan';

export interface ImportRunParts {
  imports: ImportStore;
  ranges: RangeStore;
  keys: KeyStore;
  owners: Owners;
  blobs: BlobStore;
  clock: Clock;
}

/** A job that executes, and what it imports into. */
export interface ImportRun {
  job: ImportJob;
  definition: Definition;
}

/** Answers undefined for a job that has ended: somebody else was quicker. */
export async function findRun(
  { imports, owners }: Pick<ImportRunParts, 'imports' | 'owners'>,
  tenantId: string,
  jobId: string,
): Promise<ImportRun | undefined> {
  const job = await imports.get(tenantId, jobId);
  if (isFinal(job.status)) return undefined;
  const definition = await owners.find(job.definitionName);
  if (!definition) throw definitionNotFound(job.definitionName);
  return { job, definition };
}

/** What is the same however the rows of a job are sent. */
export function sendPlan(
  { owners }: ImportRunParts,
  { job, definition }: ImportRun,
  file: SendPlan['file'],
  signal: AbortSignal,
): Omit<SendPlan, 'commit' | 'after' | 'onResult'> {
  return { job, definition, caller: callerOf(job), owners, file, options: withDefaults(job.options), signal };
}

export function callerOf({ caller }: ImportJob): NonNullable<ImportJob['caller']> {
  if (!caller) throw new Problem('internal', 'The job does not know on whose behalf it runs.');
  return caller;
}

export const countsOf = ({
  totalRows,
  insertedRows,
  updatedRows,
  skippedRows,
  failedRows,
}: ImportJob): RowCounts => ({ totalRows, insertedRows, updatedRows, skippedRows, failedRows });
