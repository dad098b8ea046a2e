import { brokenOff, problemIn, problemOf } from './api-problem';

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
  /** How long a response may take to begin, and the next part of one in JSON to arrive. */
  timeoutMilliseconds: number;
  /** Whether JSON may be a file, which is read as a stream. */
  isFile?: boolean;
  /**
   * Whether a repetition does much work again, which would take as long as the attempt before: none follows where that was
   * too long for the gateway or for this client, or where a response in JSON began as a success and broke off.
   */
  repeatsWork?: boolean;
  /** Asked once where the token is refused; resolves to whether there is another one now. */
  renewToken?: () => Promise<boolean>;
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
  { retry, renewToken, wait = waitFor, ...fetching }: SendOptions,
  signal?: AbortSignal,
): Promise<Response> {
  let end = performance.now() + retry.periodMilliseconds;
  let hasRenewed = false;
  for (let attempt = 1; ; attempt++) {
    const isLast = (delay: number) =>
      !mayRetry || attempt >= retry.attemptsMax || performance.now() + delay > end;
    const backoff =
      Math.random() * Math.min(retry.waitMilliseconds * 2 ** attempt, retry.waitMillisecondsMax);
    const request = await makeRequest();
    try {
      const response = await fetchWithTimeout(url, request, fetching, signal);
      if (response.ok || response.status === 304) return response;
      const problem = await problemOf(response, url);
      if (problem.status === 401 && renewToken && !hasRenewed) {
        hasRenewed = true;
        if (!(await unlessAborted(renewToken(), signal))) throw problem;
        // The platform did nothing yet, so that this is the first attempt again, also of what is never sent twice.
        attempt = 0;
        end = performance.now() + retry.periodMilliseconds;
        continue;
      }
      const delay = Math.max(backoff, (problem.retryAfterSeconds ?? 0) * 1000);
      const wasTooLong = fetching.repeatsWork && problem.slug === 'area-timed-out';
      if (isLast(delay) || wasTooLong || !isTemporary(problem.status, problem.retryAfterSeconds))
        throw problem;
      await wait(delay, signal);
    } catch (error) {
      // By its name, because `fetch` may come from another realm.
      const { name } = error as Error;
      const hasNoResponse = name === 'TypeError' || (name === 'TimeoutError' && !fetching.repeatsWork);
      if (isLast(backoff) || !hasNoResponse || signal?.aborted) throw error;
      await wait(backoff, signal);
    }
  }
}

/** 409 with `Retry-After`: an earlier attempt with the same idempotency key is still running. */
const isTemporary = (status: number, retryAfterSeconds: number | undefined): boolean =>
  [429, 502, 503].includes(status) || (status === 409 && retryAfterSeconds !== undefined);

/**
 * JSON is read here: what stops in the middle is as good as no response. A file or a stream takes as long as it needs, so
 * its timeout ends when it begins.
 */
async function fetchWithTimeout(
  url: string,
  request: RequestInit,
  {
    fetch,
    timeoutMilliseconds,
    isFile = false,
    repeatsWork = false,
  }: Pick<SendOptions, 'fetch' | 'timeoutMilliseconds' | 'isFile' | 'repeatsWork'>,
  signal: AbortSignal | undefined,
): Promise<Response> {
  const timeout = new AbortController();
  const start = () =>
    setTimeout(
      () => timeout.abort(new DOMException('No response in time.', 'TimeoutError')),
      timeoutMilliseconds,
    );
  let timer = start();
  const onPart = () => {
    clearTimeout(timer);
    timer = start();
  };
  let isSuccess = false;
  try {
    const signals = signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal;
    const response = await fetch(url, { ...request, signal: signals });
    isSuccess = response.ok;
    return isJson(response) && !(isFile && response.ok) ? await whole(response, onPart) : response;
  } catch (error) {
    if (isSuccess && repeatsWork && !signal?.aborted) throw brokenOff(url);
    // Reading what was aborted fails with an error of its own in some browsers.
    throw timeout.signal.aborted ? timeout.signal.reason : error;
  } finally {
    clearTimeout(timer);
  }
}

const isJson = ({ headers }: Response): boolean =>
  /^application\/(problem\+)?json\b/.test(headers.get('content-type') ?? '');

/**
 * The response with all of its body; calls back when a part of it arrives. The gateway ends a success that became a problem
 * with that problem, and breaks it off there: then the problem is the response.
 */
async function whole(response: Response, onPart: () => void): Promise<Response> {
  if (!response.body) return response;
  const { status, statusText, headers } = response;
  const reader = response.body.getReader();
  const parts: Uint8Array<ArrayBuffer>[] = [];
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      onPart();
      parts.push(part.value);
    }
  } catch (error) {
    const text = new TextDecoder().decode(joined(parts));
    const late = response.ok ? problemIn(text) : undefined;
    if (late && late.status >= 400 && late.status < 600) return new Response(text, { status: late.status });
    throw error;
  }
  const bytes = joined(parts);
  // Browsers give also a response without content a body, but make none that has one.
  return new Response(bytes.byteLength > 0 ? bytes : null, { status, statusText, headers });
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const part of parts) {
    bytes.set(part, end);
    end += part.length;
  }
  return bytes;
}

/** What another may take any time for, unless the caller aborts before. */
async function unlessAborted<Result>(
  result: Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  if (!signal) return result;
  const end = new AbortController();
  const aborted = new Promise<never>((_resolve, reject) => {
    const stop = () => reject(signal.reason as Error);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { signal: end.signal });
  });
  return Promise.race([result, aborted]).finally(() => end.abort());
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
