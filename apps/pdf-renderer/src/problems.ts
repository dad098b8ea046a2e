import { shareUsedUp } from '@plinth/contracts/platform/problems';
import { templateProblems } from '@plinth/contracts/template/problems';
import type { ShareScope } from '@plinth/kernel/fair-shares';
import { unavailable } from '@plinth/kernel/problem';

const RETRY_AFTER_SECONDS = 5;
const START_RETRY_AFTER_SECONDS = 10;

/** `detail` names the limit. */
export const documentTooExpensive = (detail: string, cause?: unknown) =>
  templateProblems['template-too-expensive'](detail, { cause });

/** There is no browser on this machine; it may be installed later. */
export const browserNotFound = () =>
  unavailable('PDF is not available now, because Chromium is not installed where documents are printed.');

export const browserNotStarted = (cause: unknown) =>
  templateProblems['renderer-busy']('Chromium did not start; try again.', {
    retryAfterSeconds: START_RETRY_AFTER_SECONDS,
    cause,
  });

/** Too many documents wait: of the caller, or of all. */
export const tooManyDocuments = (scope: ShareScope) => {
  const what = 'documents waiting to be printed';
  return scope === 'all'
    ? templateProblems['renderer-busy'](`There are too many ${what}.`, {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      })
    : shareUsedUp(scope, what, RETRY_AFTER_SECONDS);
};
