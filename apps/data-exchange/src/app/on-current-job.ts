import { staleVersion } from '@plinth/kernel/entity-tag';
import { Problem } from '@plinth/kernel/problem';
import { JobChanged } from '../store/import-store';

/** Of a step that is worked out anew each time; more changes of one job at the same moment are no accident. */
const ATTEMPTS_MAX = 5;

/**
 * Takes a step of an import that is worked out from the job as it is read, and worked out again where somebody changed
 * the job meanwhile: what others did is neither lost nor contradicted.
 * @param take reads the job; JobChanged says that it must be read again
 * @param requireState throws where the step can no longer be taken: somebody cancelled the import, and its file is gone
 * @throws Problem `stale-version` where the job is changed again and again
 */
export async function onCurrentJob<Result>(
  take: () => Promise<Result>,
  requireState?: () => Promise<unknown>,
): Promise<Result> {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++)
    try {
      return await take();
    } catch (error) {
      if (error instanceof Problem && error.kind === 'gone') await requireState?.();
      if (!(error instanceof JobChanged)) throw error;
    }
  throw staleVersion();
}
