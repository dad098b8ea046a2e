import { setTimeout as pause } from 'node:timers/promises';

/** What a step of the demo expected and did not get. */
export class UnexpectedResult extends Error {}

export interface Call {
  body?: unknown;
  form?: () => FormData;
  headers?: Record<string, string>;
  /** Statuses that are right; any success unless given. */
  expect?: readonly number[];
}

export interface ApiResponse {
  status: number;
  headers: Headers;
  bytes: Buffer;
  text: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- the demo reads responses freely
  body: any;
}

const ATTEMPTS_MAX = 60;
const PAUSE_MILLISECONDS = 1_000;

export interface Client {
  call(method: string, path: string, call?: Call): Promise<ApiResponse>;
}

/** A patient client of the platform: it retries what is unavailable for a moment. */
export async function signIn(
  url: string,
  person: { sub: string; name: string; tenantId: string; roles?: string[] },
): Promise<Client> {
  const token = async (): Promise<string> => {
    const response = await attempt(`${url}/dev/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ roles: ['admin'], ...person }),
    });
    return (JSON.parse(await response.text()) as { accessToken: string }).accessToken;
  };
  let accessToken = await token();

  const once = (method: string, path: string, { body, form, headers }: Call): Promise<Response> =>
    attempt(`${url}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${accessToken}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(form ? { body: form() } : {}),
    });

  return {
    async call(method, path, call = {}) {
      for (let attempts = 1; ; attempts++) {
        try {
          const response = await once(method, path, call);
          if (response.status === 401) accessToken = await token();
          const isPassing = [401, 429, 502, 503].includes(response.status) || isRepeatable(response);
          if (isPassing && attempts < ATTEMPTS_MAX) {
            await response.body?.cancel();
            await pause(PAUSE_MILLISECONDS);
            continue;
          }
          const bytes = Buffer.from(await response.arrayBuffer());
          const text = bytes.toString();
          const isExpected = call.expect ? call.expect.includes(response.status) : response.ok;
          if (!isExpected)
            throw new UnexpectedResult(
              `${method} ${path} returned ${response.status}: ${text.slice(0, 2_000)}`,
            );
          const isJson = /json/.test(response.headers.get('content-type') ?? '');
          return {
            status: response.status,
            headers: response.headers,
            bytes,
            text,
            body: isJson && text ? JSON.parse(text) : undefined,
          };
        } catch (error) {
          if (error instanceof UnexpectedResult || attempts >= ATTEMPTS_MAX) throw error;
          await pause(PAUSE_MILLISECONDS);
        }
      }
    },
  };
}

/** The first try of the same request with the same key is still being worked on. */
const isRepeatable = (response: Response): boolean =>
  response.status === 409 && response.headers.has('retry-after');

const attempt = (url: string, init: RequestInit): Promise<Response> => fetch(url, init);
