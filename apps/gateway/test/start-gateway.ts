import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { HOST_TENANT_ID } from '@plinth/kernel/caller';
import { listen } from '@plinth/runtime/process/health';
import { silentLog, type Log } from '@plinth/runtime/process/log';
import { CALLER_HEADER, verifyCaller, type CallerClaims } from '@plinth/runtime/rpc/signed-caller';
import { infrastructure } from '@plinth/testing/infrastructure';
import { compose, type Gateway, type Overrides } from '../src/compose';
import { GatewayConfig } from '../src/config';
import { otherEndpoints, thingEndpoints } from './thing-endpoints';

export const CALLER_KEY = 'a key of sixteen characters';
export const TENANT_ID = '01900000-0000-7000-8000-00000000aaaa';
export const OTHER_TENANT_ID = '01900000-0000-7000-8000-00000000bbbb';

/** A request as a service behind the gateway received it. */
export interface ReceivedRequest {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  claims: CallerClaims;
  body: string;
}

const closers: (() => Promise<unknown> | unknown)[] = [];

/** Registers what to close at the end of a test. */
export const onCloseAll = (close: () => unknown): void => void closers.push(close);

/** Closes what the tests of a file have started. */
export async function closeAll(): Promise<void> {
  for (const close of closers.splice(0).reverse()) await close();
}

/** Starts a service of the test's own on a free port. */
export async function startUpstream(listener: RequestListener): Promise<string> {
  const server = createServer({ keepAliveTimeout: 30_000 }, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Reads a request of the gateway, and checks that the gateway signed it. */
export async function receive(request: IncomingMessage): Promise<ReceivedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const claims = verifyCaller(
    request.headers[CALLER_HEADER] as string,
    { method: request.method!, path: request.url! },
    [CALLER_KEY],
  );
  const { method, url, headers } = request;
  return { method: method!, url: url!, headers, claims, body: Buffer.concat(chunks).toString() };
}

/** A service that responds with the request it received. */
export const echo =
  (received: ReceivedRequest[] = []): RequestListener =>
  (request, response) => {
    receive(request).then(
      (receivedRequest) => {
        received.push(receivedRequest);
        sendJson(response, 200, receivedRequest);
      },
      () => response.destroy(),
    );
  };

export function sendJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): void {
  const body = JSON.stringify(value);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...headers,
  });
  response.end(body);
}

export interface StartedGateway {
  url: string;
  port: number;
  gateway: Gateway;
  /** A bearer token with these claims. */
  token(claims?: Record<string, unknown>): Promise<string>;
  /** Sends a request, by default as a user of the tenant with all permissions. */
  fetch(path: string, init?: RequestInit & { as?: Record<string, unknown> | null }): Promise<Response>;
}

const LIMITS_OF_TIME = [
  'HEADERS_TIMEOUT_MILLISECONDS',
  'BODY_TIMEOUT_MILLISECONDS',
  'IDLE_TIMEOUT_MILLISECONDS',
  'UPSTREAM_TIMEOUT_MILLISECONDS',
  'IDEMPOTENCY_TIMEOUT_MILLISECONDS',
];

/** The smallest environment of a gateway on the shared Redis. */
export const gatewayEnvironment = (
  services: Record<string, string>,
  more: Record<string, string> = {},
): Record<string, string> => ({
  NODE_ENV: 'development',
  HTTP_HOST: '127.0.0.1',
  HTTP_PORT: '0',
  ADMIN_PORT: '0',
  CALLER_KEYS: CALLER_KEY,
  DEV_ISSUER: 'true',
  DEV_ISSUER_KEY: 'the tests of the gateway',
  REDIS_URL: infrastructure().redisUrl,
  HTTP_SERVICES: Object.entries(services)
    .map(([service, url]) => `${service}=${url}`)
    .join(','),
  PLINTH_TENANTS: JSON.stringify([
    { id: TENANT_ID, shortName: 'acme', name: 'Acme', hosts: ['acme.example'] },
  ]),
  // Most tests send all their requests as one user, whose share is a third of this.
  UPSTREAM_CONCURRENCY_MAX: '1000',
  RATE_LIMITS: JSON.stringify({ default: { user: 1_000_000, tenant: 1_000_000, address: 1_000_000 } }),
  // A busy machine delays what no limit is meant to end; a test of a limit sets it.
  ...Object.fromEntries(LIMITS_OF_TIME.map((name) => [name, '200000'])),
  IDEMPOTENCY_MARKER_MILLISECONDS: '250000',
  ...more,
});

/** Starts a gateway in this process, in front of services with these URLs. */
export async function startGateway(
  services: Record<string, string>,
  environment: Record<string, string> = {},
  { log = silentLog(), ...overrides }: Overrides & { log?: Log } = {},
): Promise<StartedGateway> {
  const config = GatewayConfig.parse(gatewayEnvironment(services, environment));
  const endpoints = { things: thingEndpoints, others: otherEndpoints };
  const gateway = await compose(config, log, { endpoints, problems: {}, ...overrides });
  const port = await listen(gateway.server, 0, '127.0.0.1');
  closers.push(async () => {
    gateway.server.closeAllConnections();
    await new Promise((resolve) => gateway.server.close(resolve));
    await gateway.close();
  });
  return { ...client(port), gateway };
}

/** A client of a gateway on a port of this machine. */
export function client(port: number): Omit<StartedGateway, 'gateway'> {
  const url = `http://127.0.0.1:${port}`;
  const tokens = new Map<string, Promise<string>>();
  const token = (claims: Record<string, unknown> = {}): Promise<string> => {
    const body = JSON.stringify({
      sub: 'ada',
      name: 'Ada',
      tenantId: TENANT_ID,
      roles: ['admin'],
      ...claims,
    });
    const known = tokens.get(body) ?? requestToken(url, body);
    tokens.set(body, known);
    return known;
  };
  return {
    url,
    port,
    token,
    async fetch(path, { as = {}, ...init } = {}) {
      const headers = new Headers(init.headers);
      if (as !== null && !headers.has('authorization'))
        headers.set('authorization', `Bearer ${await token(as)}`);
      return fetch(url + path, { ...init, headers });
    },
  };
}

async function requestToken(url: string, body: string): Promise<string> {
  const response = await fetch(`${url}/dev/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  if (!response.ok) throw new Error(await response.text());
  return ((await response.json()) as { accessToken: string }).accessToken;
}

export { HOST_TENANT_ID };
