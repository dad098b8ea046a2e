import { randomUUID } from 'node:crypto';

/** A request that failed, and how. */
export interface FailedRequest {
  request: string;
  outcome: string;
  /** It is a problem that says when to try again. */
  isRetryable: boolean;
}

export interface Load {
  /** Stops the load and waits for the last responses. */
  stop(): Promise<{ requests: number; failures: FailedRequest[]; millisecondsMax: number }>;
}

interface LoadRequest {
  method: string;
  path: string;
  body?: string | FormData;
  headers?: Record<string, string>;
}

const reads: LoadRequest[] = [
  '/settings/user',
  '/settings/user/Service.Localization.PreferredCulture',
  '/localization?cultureName=fr',
  '/templates',
  '/template-categories',
  '/timeline/Load/1',
  '/notifications',
  '/workflow/Invoice/load-1/transitions',
  '/workflow/Invoice/load-1/history',
  '/imports',
  '/exports/jobs',
  '/exports/definitions',
  '/contacts',
].map((path) => ({ method: 'GET', path }));

/** What is there already would change nothing: each of these writes counts alone, so that it never says the same twice. */
let cultureWrites = 0;
let textWrites = 0;
const cultures = ['fr', 'en'];

/** The gateway never retries a write, with or without an idempotency key. */
const writes: (() => LoadRequest)[] = [
  () =>
    json('PUT', '/settings/user/Service.Localization.PreferredCulture', {
      value: cultures[cultureWrites++ % cultures.length],
    }),
  () => json('POST', '/timeline/Load/1/entries', { entryType: 0, body: 'under load' }),
  () => json('PUT', '/localization/overrides/Load/fr/key', { value: `sous charge ${textWrites++}` }),
  () => json('POST', '/templates', { name: `load-${randomUUID()}`, content: '<p>{{ name }}</p>' }),
  () => json('POST', '/contacts', { externalId: randomUUID(), lastName: 'Load', channel: 'Email' }),
  upload,
];

const json = (method: string, path: string, body: object): LoadRequest => ({
  method,
  path,
  body: JSON.stringify(body),
  headers: {
    'content-type': 'application/json',
    ...(Math.random() < 0.5 && { 'idempotency-key': randomUUID() }),
  },
});

function upload(): LoadRequest {
  const body = new FormData();
  body.append('file', new Blob(['resource,culture,key,value\r\nLoad,en,key,value\r\n']), 'load.csv');
  body.append('definitionName', 'Localization.Overrides');
  return { method: 'POST', path: '/imports', body };
}

const WRITE_EVERY = 4;

/** Sends requests at a steady rate, independent of response times: reads of all services, writes and uploads. */
export function startLoad(url: string, token: string, requestsPerSecond: number): Load {
  const failures: FailedRequest[] = [];
  const responses: Promise<void>[] = [];
  let millisecondsMax = 0;

  const send = async ({ method, path, ...rest }: LoadRequest): Promise<void> => {
    const headers = { authorization: `Bearer ${token}`, ...rest.headers };
    const sentAt = performance.now();
    const failure = await fetch(`${url}/api/v1${path}`, { ...rest, method, headers }).then(
      async (response) => {
        const text = await response.text();
        if (response.ok) return undefined;
        const isProblem = response.headers.get('content-type')?.startsWith('application/problem+json');
        const isRetryable = isProblem === true && response.headers.has('retry-after');
        return { outcome: `${response.status} ${text}`, isRetryable };
      },
      (error: Error) => ({ outcome: `${error.message}: ${String(error.cause)}`, isRetryable: false }),
    );
    millisecondsMax = Math.max(millisecondsMax, performance.now() - sentAt);
    if (failure) failures.push({ request: `${method} ${path}`, ...failure });
  };
  const timer = setInterval(() => {
    const index = responses.length;
    const nthWrite = Math.floor(index / WRITE_EVERY);
    const isWrite = index % WRITE_EVERY === 0;
    responses.push(send(isWrite ? writes[nthWrite % writes.length]!() : reads[index % reads.length]!));
  }, 1_000 / requestsPerSecond);
  return {
    async stop() {
      clearInterval(timer);
      await Promise.all(responses);
      return { requests: responses.length, failures, millisecondsMax };
    },
  };
}
