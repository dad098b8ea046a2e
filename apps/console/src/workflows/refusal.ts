import { ApiProblem } from '@plinth/sdk/api-problem';

/** Signed out, too slow, too many requests: the same request may be judged later. */
const NOT_JUDGED = [401, 408, 429];

/** What was sent is wrong, rather than that nobody could judge it. */
export const isRefusal = (error: Error): boolean =>
  error instanceof ApiProblem && error.status < 500 && !NOT_JUDGED.includes(error.status);
