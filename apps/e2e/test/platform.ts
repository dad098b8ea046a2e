import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sharedPlatform, type SharedPlatform } from '@plinth/testing/shared-platform';
import { startPlatform, type RunningPlatform } from '@plinth/testing/start-platform';

export interface Person {
  sub?: string;
  name?: string;
  tenantId?: string;
  tenants?: string[];
  roles?: string[];
  permissions?: string[];
  expiresInSeconds?: number;
}

export interface ApiResponse {
  status: number;
  headers: Headers;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- journeys read bodies without types
  body: any;
  text: string;
}

export interface Journey {
  url: string;
  /** Undefined where `PLINTH_URL` names one. */
  platform?: SharedPlatform;
  tokenOf(person: Person): Promise<string>;
  call(
    method: string,
    path: string,
    options?: { token?: string; body?: unknown; headers?: Record<string, string> },
  ): Promise<ApiResponse>;
}

/** A journey on a platform of its own, to be ended by who started it. */
export interface LoneJourney extends Journey {
  platform: RunningPlatform;
  end(): Promise<void>;
}

/** Journeys send more requests per minute than the limits for people allow. */
const LIMITS = JSON.stringify({ default: { user: 1_000_000, tenant: 1_000_000, address: 1_000_000 } });

/** Tenants with host names, on the platform that all journeys share. */
export const tenants = {
  north: {
    id: '01900000-0000-7000-8000-00000000e201',
    shortName: 'north',
    name: 'North',
    hosts: ['north.test'],
  },
  south: {
    id: '01900000-0000-7000-8000-00000000e202',
    shortName: 'south',
    name: 'South',
    hosts: ['south.test'],
  },
  console: { id: '01900000-0000-7000-8000-00000000e203', shortName: 'console', name: 'Console' },
};

/**
 * A journey on the platform that all specs of a run share: for those that stay in tenants of their own. Whoever writes
 * one saves the start: `PLINTH_URL` names a platform that runs already.
 */
export async function startJourney(): Promise<Journey> {
  const url = process.env['PLINTH_URL'];
  if (url) return journeyOn({ url });
  const environment = {
    RATE_LIMITS: LIMITS,
    PLINTH_TENANTS: JSON.stringify(Object.values(tenants)),
    TRACES_URL: 'https://traces.test/trace/{traceId}',
  };
  const platform = await sharedPlatform('journeys', environment);
  return { ...journeyOn(platform), platform };
}

/**
 * A journey on a platform of its own: for specs that configure it, kill its processes or read its files.
 * @param parent the process with which the platform ends, where it is not the run of the specs
 */
export async function startJourneyAlone(
  environment: Record<string, string> = {},
  parent?: number,
): Promise<LoneJourney> {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'plinth-e2e-'));
  // For root the database server runs as another user, who needs access.
  await chmod(dataDirectory, 0o755);
  const platform = await startPlatform({
    dataDirectory,
    environment: { RATE_LIMITS: LIMITS, ...environment },
    ...(parent === undefined ? {} : { parent }),
  });
  return {
    ...journeyOn(platform),
    platform,
    end: async () => {
      await platform.stop();
      await rm(dataDirectory, { recursive: true, force: true });
    },
  };
}

/** Calls a platform as a client does. */
function journeyOn(platform: Pick<RunningPlatform, 'url'>): Journey {
  const call: Journey['call'] = async (method, path, { token, body, headers } = {}) => {
    const isRaw = typeof body === 'string' || body instanceof Uint8Array;
    const response = await fetch(platform.url + path, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: (isRaw ? body : JSON.stringify(body)) as string }),
    });
    const type = response.headers.get('content-type') ?? '';
    // A stream of events does not end by itself.
    if (type.startsWith('text/event-stream')) await response.body?.cancel();
    const text = response.bodyUsed ? '' : await response.text();
    const isJson = /json/.test(type);
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: isJson ? JSON.parse(text) : undefined,
    };
  };
  return {
    url: platform.url,
    call,
    tokenOf: async (person) => {
      const response = await call('POST', '/dev/token', {
        body: { sub: 'ada', name: 'Ada', roles: ['admin'], ...person },
      });
      if (response.status !== 200) throw new Error(`No token: ${response.text}`);
      return response.body.accessToken;
    },
  };
}
