import { randomUUID } from 'node:crypto';

/** What went wrong with one request. */
export interface Failure {
  request: string;
  outcome: string;
}

export interface Load {
  /** Ends it, waits for the last answers, and tells how it went. */
  stop(): Promise<{ requests: number; failures: Failure[] }>;
}

interface Asked {
  method: string;
  path: string;
  body?: string | FormData;
  headers?: Record<string, string>;
}

const reads: Asked[] = [
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

/** Nobody repeats a write for its client, with or without an idempotency key. */
const writes: (() => Asked)[] = [
  () => json('PUT', '/settings/user/Service.Localization.PreferredCulture', { value: 'fr' }),
  () => json('POST', '/timeline/Load/1/entries', { entryType: 0, body: 'under load' }),
  () => json('PUT', '/localization/overrides/Load/fr/key', { value: 'sous charge' }),
  () => json('POST', '/templates', { name: `load-${randomUUID()}`, content: '<p>{{ name }}</p>' }),
  () => json('POST', '/contacts', { externalId: randomUUID(), lastName: 'Load', channel: 'Email' }),
  upload,
];

const json = (method: string, path: string, body: object): Asked => ({
  method,
  path,
  body: JSON.stringify(body),
  headers: {
    'content-type': 'application/json',
    ...(Math.random() < 0.5 && { 'idempotency-key': randomUUID() }),
  },
});

function upload(): Asked {
  const body = new FormData();
  body.append('file', new Blob(['resource,culture,key,value\r\nLoad,en,key,value\r\n']), 'load.csv');
  body.append('definitionName', 'Localization.Overrides');
  return { method: 'POST', path: '/imports', body };
}

const WRITE_EVERY = 4;

/** Sends requests at a steady rate, however fast they are answered: reads of all areas, writes and uploads. */
export function startLoad(url: string, token: string, requestsPerSecond: number): Load {
  const failures: Failure[] = [];
  const answered: Promise<void>[] = [];

  const send = async ({ method, path, ...asked }: Asked): Promise<void> => {
    const headers = { authorization: `Bearer ${token}`, ...asked.headers };
    const outcome = await fetch(`${url}/api/v1${path}`, { ...asked, method, headers }).then(
      async (response) => {
        const text = await response.text();
        return response.ok ? undefined : `${response.status} ${text}`;
      },
      (error: Error) => `${error.message}: ${String(error.cause)}`,
    );
    if (outcome !== undefined) failures.push({ request: `${method} ${path}`, outcome });
  };
  const timer = setInterval(() => {
    const turn = answered.length;
    const nthWrite = Math.floor(turn / WRITE_EVERY);
    const isWrite = turn % WRITE_EVERY === 0;
    answered.push(send(isWrite ? writes[nthWrite % writes.length]!() : reads[turn % reads.length]!));
  }, 1_000 / requestsPerSecond);
  return {
    async stop() {
      clearInterval(timer);
      await Promise.all(answered);
      return { requests: answered.length, failures };
    },
  };
}
