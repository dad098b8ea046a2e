import { STATUS_CODES } from 'node:http';
import { Problem, type ProblemKind } from '@plinth/kernel/problem';

/** The HTTP status of each kind of problem. */
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
  'range-not-satisfiable': 416,
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
  /** The path that the client requested. */
  instance: string;
  traceId: string;
  /** The address of the gateway for clients; problem pages are below it. */
  publicUrl: string;
}

export interface ProblemResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** A problem as an HTTP response: status, headers and problem details. */
export function problemResponse(problem: Problem, context: ProblemContext): ProblemResponse {
  const { slug, title, errors, extensions, retryAfterSeconds, allow, sizeBytes } = problem.options;
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
  if (sizeBytes !== undefined) headers['content-range'] = `bytes */${sizeBytes}`;
  if (status === 401) headers['www-authenticate'] = 'Bearer';
  return { status, headers, body: JSON.stringify(body) };
}

/** The problem for an unexpected error, whose cause callers must not see. */
export const internalProblem = (cause: unknown): Problem =>
  new Problem('internal', 'An unexpected error occurred; it was logged with this trace id.', { cause });

/** The `error` member of a batch result. */
export const batchError = (problem: Problem): { status: number; detail: string } => ({
  status: statusByKind[problem.kind],
  detail: problem.errors ? `${problem.detail} ${JSON.stringify(problem.errors)}` : problem.detail,
});
