import { PROBLEM_MEDIA_TYPE, statusByKind } from '@plinth/conventions/problem-details';
import { Problem, type ProblemKind } from '@plinth/kernel/problem';
import type { HeaderList } from '../exchange';

const kindByStatus = new Map(
  Object.entries(statusByKind).map(([kind, status]) => [status, kind as ProblemKind]),
);

/** Whether an answer is a problem already. */
export const isProblem = (contentType: string | undefined): boolean =>
  contentType?.startsWith(PROBLEM_MEDIA_TYPE) ?? false;

/** Says in the platform's form what a service, or its HTTP parser, refused in a form of its own. */
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
