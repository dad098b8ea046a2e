import { isFinal } from '../domain/import-job';
import type { ImportDependencies } from './find-import-run';

/** How often a job is asked whether it is cancelled. */
const ASK_MILLISECONDS = 2_000;

export interface ReadKeys {
  tenantId: string;
  jobId: string;
  /** Of how many batches the keys are stored, as far as the workflow was told. */
  keyBatches?: number | undefined;
}

/**
 * Finds the rows of a file that have duplicate keys, unless the job is cancelled before: what is left of its keys goes
 * when it ends. Returns how many there are.
 */
export async function findDuplicates(
  { imports, keys }: Pick<ImportDependencies, 'imports' | 'keys'>,
  { tenantId, jobId, keyBatches }: ReadKeys,
  signal: AbortSignal,
  askMilliseconds = ASK_MILLISECONDS,
): Promise<number> {
  const isEnded = async () => {
    const { status, cancelRequestedAt } = await imports.getState(tenantId, jobId);
    return isFinal(status) || cancelRequestedAt !== null;
  };
  if (await isEnded()) return 0;
  const ended = new AbortController();
  let isAsking = false;
  const ask = async () => {
    if (isAsking) return;
    isAsking = true;
    // Whether the database answers shows where the keys are read.
    if (await isEnded().catch(() => false)) ended.abort();
    isAsking = false;
  };
  const asking = setInterval(() => void ask(), askMilliseconds);
  try {
    const aborted = AbortSignal.any([signal, ended.signal]);
    return await keys.findDuplicates(tenantId, jobId, { signal: aborted, batches: keyBatches });
  } catch (error) {
    if (!ended.signal.aborted) throw error;
    return 0;
  } finally {
    clearInterval(asking);
  }
}
