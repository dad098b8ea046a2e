import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allEndpoints, allProblems } from '@plinth/contracts/all';
import { cacheControlByPolicy, type Endpoint } from '@plinth/contracts/endpoint';
import { platformEndpoints } from '@plinth/contracts/platform/endpoints';
import {
  closeAll,
  echo,
  HOST_TENANT_ID,
  sendJson,
  startGateway,
  startUpstream,
  type StartedGateway,
} from './start-gateway';

/** One without services, which describes them all. */
let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await start();
});
afterAll(closeAll);

const everyEndpoint = Object.values(allEndpoints).flatMap((endpoints) => Object.values<Endpoint>(endpoints));

/** A gateway with the real contracts. */
const start = (environment: Record<string, string> = {}, services: Record<string, string> = {}) =>
  startGateway(services, environment, { endpoints: allEndpoints, problems: allProblems });

interface Described {
  paths: Record<
    string,
    Record<string, { operationId: string; responses: Record<string, { content?: Record<string, unknown> }> }>
  >;
}

/** The validator is an ES module that finds its files by its own address, so it runs in a process of its own. */
const judge = (document: string): unknown => {
  const script = `
    import { Validator } from '@seriousme/openapi-schema-validator';
    import { text } from 'node:stream/consumers';
    console.log(JSON.stringify(await new Validator().validate(JSON.parse(await text(process.stdin)))));`;
  return JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '--eval', script], { input: document }).toString(),
  );
};

describe('GET /openapi.json', () => {
  const read = async () => {
    const response = await gateway.fetch('/openapi.json', { as: null });
    return { response, document: (await response.json()) as Described };
  };

  it('is valid OpenAPI 3.1 for an independent validator', async () => {
    const { document } = await read();
    expect(judge(JSON.stringify(document))).toEqual({ valid: true });
    expect(document).toMatchObject({ openapi: '3.1.0' });
    expect(document).toEqual(JSON.parse(readFileSync(join(process.cwd(), 'openapi', 'plinth.json'), 'utf8')));
  });

  it('is public, and describes every endpoint with an operation id of its own', async () => {
    const { response, document } = await read();
    expect(response.headers.get('cache-control')).toBe('public, max-age=3600');
    const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
    expect(operations).toHaveLength(everyEndpoint.length + Object.keys(platformEndpoints).length + 2);
    expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(operations.length);
  });

  it('describes integers as integers', async () => {
    const { document } = await read();
    const text = JSON.stringify(document);
    expect(text).not.toMatch(/"type":"number","enum"|"enum":\[0,1,2[^\]]*\],"type":"number"/);
    expect(text).toMatch(/"TemplateLifecycleStatus":\{[^}]*"type":"integer"/);
  });

  it('has no dangling references', async () => {
    const { document } = await read();
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(
      ([, path]) => path!,
    );
    for (const path of new Set(references)) {
      const target = path
        .split('/')
        .reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], document);
      expect([path, target]).toEqual([path, expect.anything()]);
    }
  });
});

describe('every endpoint', () => {
  it('declares a cache policy as documented', () => {
    for (const { method, path, cache, list, success } of everyEndpoint) {
      if (method !== 'GET') expect([path, cache]).toEqual([path, undefined]);
      else expect([path, cacheControlByPolicy[cache!]]).toEqual([path, expect.any(String)]);
      if (list) expect([path, cacheControlByPolicy[cache!]]).toEqual([path, 'private, no-store']);
      if (success.events) expect([path, cache]).toEqual([path, 'none']);
      if (path.startsWith('/settings') && method === 'GET' && !list)
        expect(['user-data', 'query-metadata', 'list']).toContain(cache);
    }
    const bootstrap = allEndpoints.localization.getLocalization;
    expect(cacheControlByPolicy[bootstrap.cache]).toBe('public, max-age=3600');
  });

  it('names only problems that are explained', () => {
    for (const { path, problems = [] } of everyEndpoint) {
      for (const slug of problems)
        expect([path, slug, allProblems[slug]]).toEqual([path, slug, expect.anything()]);
    }
  });

  it('requires a credential, unless the interface says otherwise', () => {
    const open = everyEndpoint.filter(
      ({ access }) => access.type === 'anonymous' || access.type === 'optional',
    );
    expect(open.map(({ method, path }) => `${method} ${path}`)).toEqual(['GET /localization']);
  });

  it('can be reached through the gateway, and its response is returned', async () => {
    const upstream = await startUpstream((request, response) => {
      request.resume();
      sendJson(response, 200, [request.method, request.url]);
    });
    const areas = Object.keys(allEndpoints);
    const { fetch } = await start({}, Object.fromEntries(areas.map((area) => [area, upstream])));
    for (const { method, path, atRoot } of everyEndpoint) {
      const real = path.replace(/:\w+/g, 'user');
      for (const prefix of atRoot ? ['/api/v1', '/api', ''] : ['/api/v1', '/api']) {
        const response = await fetch(prefix + real, { method, as: { tenantId: undefined } });
        expect(await response.json()).toEqual([method, `/api/v1${real}`]);
      }
    }
  });
});

describe('GET /problems', () => {
  it('explains each problem of the catalogue', async () => {
    const { fetch } = gateway;
    for (const [slug, { title }] of Object.entries(allProblems)) {
      const response = await fetch(`/problems/${slug}`, { as: null });
      expect([slug, response.status, response.headers.get('content-type')]).toEqual([
        slug,
        200,
        'text/html; charset=utf-8',
      ]);
      expect(await response.text()).toContain(title.replace(/'/g, '&#39;'));
    }
    expect(await (await fetch('/problems', { as: null })).text()).toContain('/problems/unknown-version');
  });

  it('responds with 404 to an unknown problem', async () => {
    const { fetch } = gateway;
    for (const slug of ['nothing', '__proto__', 'constructor', '%3Cscript%3E']) {
      expect((await fetch(`/problems/${slug}`, { as: null })).status).toBe(404);
    }
  });
});

describe('GET /readyz', () => {
  it('names each part and its state', async () => {
    const upstream = await startUpstream((_request, response) => sendJson(response, 200, {}));
    const good = await start({}, { settings: upstream, template: upstream });
    expect((await good.fetch('/healthz', { as: null })).status).toBe(200);
    const ready = await good.fetch('/readyz', { as: null });
    expect([ready.status, await ready.json()]).toEqual([
      200,
      { ready: true, parts: { redis: 'up', settings: 'up', template: 'up' } },
    ]);
    const bad = await start({}, { settings: upstream, template: 'http://127.0.0.1:1' });
    const unready = await bad.fetch('/readyz', { as: null });
    expect([unready.status, unready.headers.get('content-type')]).toEqual([503, 'application/problem+json']);
    expect(await unready.json()).toMatchObject({
      status: 503,
      parts: { redis: 'up', settings: 'up', template: 'down' },
    });
  });
});

describe('the query of a page', () => {
  it.each(['/me', '/problems', '/healthz'])(
    'is refused with NUL at %s, as it is by services',
    async (path) => {
      const { fetch } = gateway;
      const response = await fetch(`${path}?unread=%00`);
      expect([response.status, await response.json()]).toMatchObject([
        422,
        { errors: { unread: ['Service:Validation:FormatValidator'] } },
      ]);
    },
  );
});

describe('the tag of a page', () => {
  it.each(['/me', '/healthz', '/readyz', '/problems'])('is a strong one at %s, or none', async (path) => {
    const { fetch } = gateway;
    expect((await fetch(path)).headers.get('etag')).toEqual(
      path === '/problems' ? expect.stringMatching(/^"/) : null,
    );
  });
});

describe('an endpoint of the gateway itself', () => {
  const { getConsoleConfiguration: _, ...endpoints } = platformEndpoints;

  it.each(Object.entries<Endpoint>(endpoints))(
    '(%s) refuses whoever accepts none of its media types with 406, as those of services do',
    async (_name, { path, method }) => {
      const { fetch } = gateway;
      const ask = (
        accept: string,
        as: Record<string, unknown> | null = { tenantId: HOST_TENANT_ID, roles: ['admin'] },
      ) => fetch(path, { method, as, headers: { accept } });
      const refused = await ask('text/html');
      expect(refused.headers.get('content-type')).toBe('application/problem+json');
      expect(await refused.json()).toMatchObject({
        status: 406,
        detail: 'Available media types: application/json, application/problem+json.',
      });
      expect((await ask('text/html', null)).status).toBe(401);
      expect((await ask('text/html, */*;q=0.8')).status).toBe(method === 'GET' ? 200 : 400);
    },
  );
});

describe('methods of a resource', () => {
  it('that are not allowed get 405 with Allow, and OPTIONS lists the allowed ones', async () => {
    const { fetch } = await startGateway({ things: await startUpstream(echo()) });
    const allowOf = async (path: string, method: string) => {
      const { status, headers } = await fetch(path, { method, as: null });
      return [status, headers.get('allow')];
    };
    expect(await allowOf('/api/v1/things', 'DELETE')).toEqual([405, 'GET, HEAD, OPTIONS, POST']);
    expect(await allowOf('/healthz', 'POST')).toEqual([405, 'GET, HEAD, OPTIONS']);
    for (const page of ['/healthz', '/me', '/problems'])
      expect(await allowOf(page, 'OPTIONS')).toEqual([204, 'GET, HEAD, OPTIONS']);
    expect(await allowOf('/api/v1/things', 'OPTIONS')).toEqual([204, 'GET, HEAD, OPTIONS, POST']);
    expect(await allowOf('/greeting', 'OPTIONS')).toEqual([204, 'GET, HEAD, OPTIONS']);
    expect((await fetch('/nowhere', { method: 'OPTIONS', as: null })).status).toBe(404);
    expect((await fetch('/things', { method: 'DELETE', as: null })).status).toBe(404);
  });

  it('include HEAD, which is served like GET without the body', async () => {
    const { fetch } = await startGateway({ things: await startUpstream(echo()) });
    const response = await fetch('/api/v1/things', { method: 'HEAD' });
    expect([response.status, await response.text(), response.headers.get('content-type')]).toEqual([
      200,
      '',
      'application/json',
    ]);
    const missing = await fetch('/api/v1/nowhere', { method: 'HEAD' });
    expect([missing.status, await missing.text()]).toEqual([404, '']);
  });
});
