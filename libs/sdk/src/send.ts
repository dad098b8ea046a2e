import { problemOf } from './api-problem';

export interface RetryOptions {
  /** How often a call is sent at most; 1 never repeats. */
  attemptsMax: number;
  /** Waits grow from here, each a random part of twice the one before. */
  waitMilliseconds: number;
  waitMillisecondsMax: number;
}

export interface SendOptions {
  fetch: typeof fetch;
  retry: RetryOptions;
  /** How long an answer may take to begin. */
  timeoutMilliseconds: number;
  /** Passed in by tests. */
  wait?: (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>;
}

/**
 * Sends a request until it succeeds, fails for good, or was sent often enough. Repeated are requests that nobody
 * answered, and answers that say that trying again makes sense.
 * @throws ApiProblem for an answer that is no success, or what `fetch` threw
 */
export async function send(
  url: string,
  makeRequest: () => Promise<RequestInit>,
  mayRepeat: boolean,
  { fetch, retry, timeoutMilliseconds, wait = waitFor }: SendOptions,
  signal?: AbortSignal,
): Promise<Response> {
  for (let attempt = 1; ; attempt++) {
    const isLast = !mayRepeat || attempt >= retry.attemptsMax;
    const backoff =
      Math.random() * Math.min(retry.waitMilliseconds * 2 ** attempt, retry.waitMillisecondsMax);
    const request = await makeRequest();
    try {
      const response = await fetchInTime(url, request, fetch, timeoutMilliseconds, signal);
      if (response.ok || response.status === 304) return response;
      const problem = await problemOf(response);
      if (isLast || !isWorthAnotherTry(problem.status, problem.retryAfterSeconds)) throw problem;
      await wait(Math.max(backoff, (problem.retryAfterSeconds ?? 0) * 1000), signal);
    } catch (error) {
      // By its name, because `fetch` may come from another realm.
      const isUnanswered = ['TypeError', 'TimeoutError'].includes((error as Error).name);
      if (isLast || !isUnanswered || signal?.aborted) throw error;
      await wait(backoff, signal);
    }
  }
}

/** 409 with `Retry-After`: an earlier attempt with the same idempotency key still runs. */
const isWorthAnotherTry = (status: number, retryAfterSeconds: number | undefined): boolean =>
  [429, 502, 503].includes(status) || (status === 409 && retryAfterSeconds !== undefined);

/** The time counts until the answer begins; reading a long one may take longer. */
async function fetchInTime(
  url: string,
  request: RequestInit,
  fetchIt: typeof fetch,
  milliseconds: number,
  signal: AbortSignal | undefined,
): Promise<Response> {
  const late = new AbortController();
  const timer = setTimeout(
    () => late.abort(new DOMException('No answer in time.', 'TimeoutError')),
    milliseconds,
  );
  try {
    const signals = signal ? AbortSignal.any([signal, late.signal]) : late.signal;
    return await fetchIt(url, { ...request, signal: signals });
  } finally {
    clearTimeout(timer);
  }
}

/** Waits, unless the caller stops before. */
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
