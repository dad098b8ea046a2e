import { problemOf } from './api-problem';

export interface RetryOptions {
  /** How often a request is sent at most; 1 means no retries. */
  attemptsMax: number;
  /** The delay before the first retry; delays double, and each is a random part of its maximum. */
  waitMilliseconds: number;
  waitMillisecondsMax: number;
  /** How long after the first attempt the last one may begin: people who look at a page do not wait for four timeouts. */
  periodMilliseconds: number;
}

export interface SendOptions {
  fetch: typeof fetch;
  retry: RetryOptions;
  /** How long a response may take to begin. */
  timeoutMilliseconds: number;
  /** Passed in by tests. */
  wait?: (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>;
}

/**
 * Sends a request until it succeeds, fails permanently, or was sent as often as allowed. Requests without a response and
 * those with a temporary problem are retried.
 * @throws ApiProblem for a response that is not a success, or the error of `fetch`
 */
export async function send(
  url: string,
  makeRequest: () => Promise<RequestInit>,
  mayRetry: boolean,
  { fetch, retry, timeoutMilliseconds, wait = waitFor }: SendOptions,
  signal?: AbortSignal,
): Promise<Response> {
  const end = performance.now() + retry.periodMilliseconds;
  for (let attempt = 1; ; attempt++) {
    const isLast = (delay: number) =>
      !mayRetry || attempt >= retry.attemptsMax || performance.now() + delay > end;
    const backoff =
      Math.random() * Math.min(retry.waitMilliseconds * 2 ** attempt, retry.waitMillisecondsMax);
    const request = await makeRequest();
    try {
      const response = await fetchWithTimeout(url, request, fetch, timeoutMilliseconds, signal);
      if (response.ok || response.status === 304) return response;
      const problem = await problemOf(response);
      const delay = Math.max(backoff, (problem.retryAfterSeconds ?? 0) * 1000);
      if (isLast(delay) || !isTemporary(problem.status, problem.retryAfterSeconds)) throw problem;
      await wait(delay, signal);
    } catch (error) {
      // By its name, because `fetch` may come from another realm.
      const hasNoResponse = ['TypeError', 'TimeoutError'].includes((error as Error).name);
      if (isLast(backoff) || !hasNoResponse || signal?.aborted) throw error;
      await wait(backoff, signal);
    }
  }
}

/** 409 with `Retry-After`: an earlier attempt with the same idempotency key is still running. */
const isTemporary = (status: number, retryAfterSeconds: number | undefined): boolean =>
  [429, 502, 503].includes(status) || (status === 409 && retryAfterSeconds !== undefined);

/** The timeout ends when the response begins; reading a long one may take longer. */
async function fetchWithTimeout(
  url: string,
  request: RequestInit,
  fetchFunction: typeof fetch,
  milliseconds: number,
  signal: AbortSignal | undefined,
): Promise<Response> {
  const timeout = new AbortController();
  const timer = setTimeout(
    () => timeout.abort(new DOMException('No response in time.', 'TimeoutError')),
    milliseconds,
  );
  try {
    const signals = signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal;
    return await fetchFunction(url, { ...request, signal: signals });
  } finally {
    clearTimeout(timer);
  }
}

/** Waits, unless the caller aborts before. */
export function waitFor(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal!.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', stop, { once: true });
  });
}
