import { isFinal } from '../domain/import-job';
import type { ImportDependencies } from './find-import-run';

/** How often a job is asked whether it is cancelled. */
const ASK_MILLISECONDS = 2_000;

/**
 * Finds the rows of a file that have duplicate keys, unless the job is cancelled before: what is left of its keys goes
 * when it ends.
 */
export async function findDuplicates(
  { imports, keys }: Pick<ImportDependencies, 'imports' | 'keys'>,
  tenantId: string,
  jobId: string,
  signal: AbortSignal,
  askMilliseconds = ASK_MILLISECONDS,
): Promise<void> {
  const isEnded = async () => {
    const { status, cancelRequestedAt } = await imports.getState(tenantId, jobId);
    return isFinal(status) || cancelRequestedAt !== null;
  };
  if (await isEnded()) return;
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
    await keys.findDuplicates(tenantId, jobId, AbortSignal.any([signal, ended.signal]));
  } catch (error) {
    if (!ended.signal.aborted) throw error;
  } finally {
    clearInterval(asking);
  }
}
