import { PROBLEM_MEDIA_TYPE, statusByKind } from '@plinth/http/problem-details';
import { Problem, type ProblemKind } from '@plinth/kernel/problem';
import type { HeaderList } from '../request-context';

const kindByStatus = new Map(
  Object.entries(statusByKind).map(([kind, status]) => [status, kind as ProblemKind]),
);

/** Whether a response is a problem already. */
export const isProblem = (contentType: string | undefined): boolean =>
  contentType?.startsWith(PROBLEM_MEDIA_TYPE) ?? false;

/** The problem for an error response that a service's HTTP parser sent in its own form. */
export function problemOfStatus(status: number): Problem {
  const kind = kindByStatus.get(status) ?? (status < 500 ? 'malformed' : 'internal');
  return new Problem(kind, status < 500 ? 'The request was refused.' : 'The request failed.');
}

export function contentTypeOf(headers: HeaderList): string | undefined {
  for (let index = 0; index < headers.length; index += 2) {
    if (headers[index] === 'content-type') return headers[index + 1];
  }
  return undefined;
}
