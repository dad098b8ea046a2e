import { STATUS_CODES } from 'node:http';
import { Problem, type ProblemKind } from '@plinth/kernel/problem';

/** One table: the HTTP status of each kind of problem. */
export const statusByKind: Record<ProblemKind, number> = {
  malformed: 400,
  unauthenticated: 401,
  forbidden: 403,
  'not-found': 404,
  'method-not-allowed': 405,
  'not-acceptable': 406,
  'timed-out': 408,
  conflict: 409,
  gone: 410,
  'too-large': 413,
  'address-too-long': 414,
  'unsupported-media-type': 415,
  invalid: 422,
  limited: 429,
  'headers-too-large': 431,
  internal: 500,
  unsupported: 501,
  upstream: 502,
  overloaded: 503,
};

export const PROBLEM_MEDIA_TYPE = 'application/problem+json';
const GENERAL_TYPE = 'https://tools.ietf.org/html/rfc7807';

export interface ProblemContext {
  /** The path that the client asked for. */
  instance: string;
  traceId: string;
  /** Where clients reach the gateway; problem pages live below it. */
  publicUrl: string;
}

export interface ProblemAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Says a problem in HTTP: status, headers and the problem details of the interface. */
export function answerProblem(problem: Problem, context: ProblemContext): ProblemAnswer {
  const { slug, title, errors, extensions, retryAfterSeconds, allow } = problem.options;
  const status = statusByKind[problem.kind];
  const body = {
    type: slug ? `${context.publicUrl}/problems/${slug}` : GENERAL_TYPE,
    title: title ?? STATUS_CODES[status] ?? 'Error',
    status,
    detail: problem.detail,
    instance: context.instance,
    ...extensions,
    ...(errors ? { errors } : {}),
    traceId: context.traceId,
  };
  const headers: Record<string, string> = { 'content-type': PROBLEM_MEDIA_TYPE, 'cache-control': 'no-store' };
  if (retryAfterSeconds !== undefined) headers['retry-after'] = String(retryAfterSeconds);
  if (allow) headers['allow'] = allow.join(', ');
  if (status === 401) headers['www-authenticate'] = 'Bearer';
  return { status, headers, body: JSON.stringify(body) };
}

/** What a caller is told of a failure that is nobody's business but ours. */
export const internalProblem = (cause: unknown): Problem =>
  new Problem('internal', 'An unexpected error happened; it was recorded under this trace id.', { cause });

/** The `error` member of a batch result. */
export const batchError = (problem: Problem): { status: number; detail: string } => ({
  status: statusByKind[problem.kind],
  detail: problem.errors ? `${problem.detail} ${JSON.stringify(problem.errors)}` : problem.detail,
});
