import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import {
  anonymous,
  authenticated,
  endpoint,
  optional,
  permission,
  type Endpoints,
} from '@plinth/contracts/endpoint';
import { HOST_TENANT_ID } from '@plinth/kernel/caller';
import { listen } from '@plinth/runtime/health';
import { silentLog } from '@plinth/runtime/log';
import { CALLER_HEADER, verifyCaller, type CallerClaims } from '@plinth/runtime/signed-caller';
import { infrastructure } from '@plinth/testing/infrastructure';
import { compose, type Gateway, type Surroundings } from '../src/compose';
import { GatewayConfig } from '../src/config';

export const CALLER_KEY = 'a key of sixteen characters';
export const TENANT_ID = '01900000-0000-7000-8000-00000000aaaa';
export const OTHER_TENANT_ID = '01900000-0000-7000-8000-00000000bbbb';

/** What somebody asked a service behind the gateway. */
export interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  claims: CallerClaims;
  body: string;
}

/** Endpoints of a small area that exists in tests only. */
export const thingEndpoints = {
  listThings: endpoint({
    method: 'GET',
    path: '/things',
    summary: 'Read all things',
    access: authenticated,
    success: { status: 200, body: z.array(z.string()) },
    cache: 'list',
  }),
  getThing: endpoint({
    method: 'GET',
    path: '/things/:name',
    summary: 'Read a thing',
    access: permission('Templating.Templates.Read'),
    params: z.object({ name: z.string() }),
    success: { status: 200, body: z.unknown() },
    cache: 'user-data',
  }),
  postThing: endpoint({
    method: 'POST',
    path: '/things',
    summary: 'Make a thing',
    access: authenticated,
    body: z.unknown(),
    success: { status: 201, body: z.unknown() },
  }),
  putThing: endpoint({
    method: 'PUT',
    path: '/things/:name',
    summary: 'Change a thing',
    access: authenticated,
    params: z.object({ name: z.string() }),
    body: z.unknown(),
    success: { status: 204 },
    rateLimitClass: 'expensive',
  }),
  deleteThing: endpoint({
    method: 'DELETE',
    path: '/things/:name',
    summary: 'Remove a thing for the whole platform',
    access: permission('Settings.Global.Manage', { hostOnly: true }),
    params: z.object({ name: z.string() }),
    success: { status: 204 },
  }),
  getScoped: endpoint({
    method: 'GET',
    path: '/scoped/:scope',
    summary: 'Read something whose access depends on the scope',
    access: {
      type: 'by-parameter',
      parameter: 'scope',
      accessByValue: { user: authenticated, tenant: permission('Settings.Tenant.Read') },
    },
    params: z.object({ scope: z.string() }),
    success: { status: 200, body: z.unknown() },
    cache: 'user-data',
  }),
  getGreeting: endpoint({
    method: 'GET',
    path: '/greeting',
    summary: 'Greet whoever asks',
    access: optional,
    success: { status: 200, body: z.unknown() },
    cache: 'reference',
    atRoot: true,
  }),
  getNews: endpoint({
    method: 'GET',
    path: '/news',
    summary: 'Read the news',
    access: anonymous,
    success: { status: 200, body: z.unknown() },
    cache: 'reference',
  }),
  getOldThing: endpoint({
    method: 'GET',
    path: '/old-things/:name',
    summary: 'Read a thing the old way',
    access: authenticated,
    params: z.object({ name: z.string() }),
    success: { status: 200, body: z.unknown() },
    cache: 'user-data',
    deprecated: { since: '2026-01-01', sunset: '2027-01-01', link: '/docs#old-things' },
  }),
  getFile: endpoint({
    method: 'GET',
    path: '/files/:name',
    summary: 'Download a file',
    access: authenticated,
    params: z.object({ name: z.string() }),
    success: { status: 200, file: ['text/csv'] },
    cache: 'none',
  }),
  postFile: endpoint({
    method: 'POST',
    path: '/files',
    summary: 'Upload a file',
    access: authenticated,
    upload: true,
    success: { status: 201, body: z.unknown() },
  }),
  watchThings: endpoint({
    method: 'GET',
    path: '/things/all/events',
    summary: 'Watch things happen',
    access: authenticated,
    success: { status: 200, events: true },
    cache: 'none',
  }),
} satisfies Endpoints;

export const otherEndpoints = {
  getOther: endpoint({
    method: 'GET',
    path: '/others',
    summary: 'Read others',
    access: authenticated,
    success: { status: 200, body: z.unknown() },
    cache: 'list',
  }),
} satisfies Endpoints;

const closers: (() => Promise<unknown> | unknown)[] = [];

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

/** Reads what the gateway sent, and checks that the gateway signed it. */
export async function see(request: IncomingMessage): Promise<Seen> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const path = request.url!.split('?', 1)[0]!;
  const claims = verifyCaller(request.headers[CALLER_HEADER] as string, { method: request.method!, path }, [
    CALLER_KEY,
  ]);
  const { method, url, headers } = request;
  return { method: method!, url: url!, headers, claims, body: Buffer.concat(chunks).toString() };
}

/** A service that answers what it was asked. */
export const echo =
  (seen: Seen[] = []): RequestListener =>
  (request, response) => {
    see(request).then(
      (sight) => {
        seen.push(sight);
        sendJson(response, 200, sight);
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
  /** Asks as somebody with these claims. */
  token(claims?: Record<string, unknown>): Promise<string>;
  /** A request as a user of the tenant with all permissions, unless told otherwise. */
  fetch(path: string, init?: RequestInit & { as?: Record<string, unknown> | null }): Promise<Response>;
}

/** The least environment of a gateway on the shared Redis. */
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
    .map(([area, url]) => `${area}=${url}`)
    .join(','),
  PLINTH_TENANTS: JSON.stringify([
    { id: TENANT_ID, shortName: 'acme', name: 'Acme', hosts: ['acme.example'] },
  ]),
  RATE_LIMITS: JSON.stringify({ default: { user: 1_000_000, tenant: 1_000_000, address: 1_000_000 } }),
  ...more,
});

/** Starts a gateway in this process, before the services given by their URLs. */
export async function startGateway(
  services: Record<string, string>,
  environment: Record<string, string> = {},
  surroundings: Surroundings = {},
): Promise<StartedGateway> {
  const config = GatewayConfig.parse(gatewayEnvironment(services, environment));
  const endpoints = { things: thingEndpoints, others: otherEndpoints };
  const gateway = await compose(config, silentLog(), { endpoints, problems: {}, ...surroundings });
  const port = await listen(gateway.server, 0, '127.0.0.1');
  closers.push(async () => {
    gateway.server.closeAllConnections();
    await new Promise((resolve) => gateway.server.close(resolve));
    await gateway.close();
  });
  return { ...client(port), gateway };
}

/** Speaks to a gateway on a port of this machine. */
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
