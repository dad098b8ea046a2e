import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import {
  closeAll,
  echo,
  HOST_TENANT_ID,
  OTHER_TENANT_ID,
  startGateway,
  startUpstream,
  TENANT_ID,
  type ReceivedRequest,
} from './start-gateway';

afterEach(closeAll);

const start = async (environment: Record<string, string> = {}) => {
  const received: ReceivedRequest[] = [];
  const gateway = await startGateway({ things: await startUpstream(echo(received)) }, environment);
  return { ...gateway, received };
};

describe('a forwarded request', () => {
  it('reaches the service under the prefix, whichever address the client used', async () => {
    const { fetch, received } = await start();
    await fetch('/api/v1/things?x=1');
    await fetch('/api/things?api-version=1.0&x=1');
    await fetch('/api/v1/things/?api-version=7.0');
    await fetch('/greeting');
    expect(received.map(({ url }) => url)).toEqual([
      '/api/v1/things?x=1',
      '/api/v1/things?x=1',
      '/api/v1/things',
      '/api/v1/greeting',
    ]);
    expect(received.map(({ claims }) => claims.instance)).toEqual([
      '/api/v1/things',
      '/api/things',
      '/api/v1/things/',
      '/greeting',
    ]);
  });

  it('carries the caller, signed for this request', async () => {
    const { fetch, received } = await start();
    await fetch('/api/v1/things', { as: { roles: [], permissions: ['Workflow.History.Read'] } });
    expect(received[0]!.claims).toMatchObject({
      tenantId: TENANT_ID,
      caller: {
        tenantId: TENANT_ID,
        tenantName: 'Acme',
        userId: 'ada',
        userName: 'Ada',
        permissions: ['Workflow.History.Read'],
      },
    });
    expect(received[0]!.claims.caller).not.toHaveProperty('operationId');
  });

  it('carries the body, its type and the conditional headers byte for byte, and no other header of the client', async () => {
    const { fetch, received } = await start();
    const headers = {
      'content-type': 'application/json',
      'if-match': '"7"',
      cookie: 'a=b',
      'x-forwarded-for': '1.2.3.4',
      'x-plinth-caller': 'me',
    };
    await fetch('/api/v1/things/a%2Fb%20c', { method: 'PUT', headers, body: '{ "a" : 1 }' });
    expect(received[0]).toMatchObject({ url: '/api/v1/things/a%2Fb%20c', body: '{ "a" : 1 }' });
    expect(Object.keys(received[0]!.headers).sort()).toEqual([
      'accept',
      'accept-encoding',
      'accept-language',
      'connection',
      'content-length',
      'content-type',
      'host',
      'if-match',
      'te',
      'traceparent',
      'x-plinth-caller',
    ]);
  });

  it.each(['without', 'with'])(
    'carries the same body %s a key, whether it came with its head, in pieces, or long after it',
    async (key) => {
      const { port, token, received } = await start();
      const common = { authorization: `Bearer ${await token()}`, 'content-type': 'application/json' };
      const send = (body: string, framing: Record<string, string | number>) =>
        new Promise<void>((resolve, reject) => {
          const keyed = key === 'with' ? { 'idempotency-key': randomUUID() } : {};
          const headers = { ...common, ...keyed, ...framing };
          const sent = request({ port, method: 'POST', path: '/api/v1/things', headers, agent: false });
          sent.on('response', (response) => response.resume().on('end', resolve)).on('error', reject);
          if ('expect' in framing) sent.on('continue', () => sent.end(body)).flushHeaders();
          else sent.end(body);
        });
      const small = JSON.stringify('small');
      const large = JSON.stringify('x'.repeat(500_000));
      await send(small, { 'content-length': small.length });
      await send(small, { 'transfer-encoding': 'chunked' });
      await send(large, { 'content-length': large.length });
      await send(small, { 'content-length': small.length, expect: '100-continue' });
      expect(received.map(({ body }) => body)).toEqual([small, small, large, small]);
    },
  );

  it('continues the trace of the client', async () => {
    const { fetch, received } = await start();
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const response = await fetch('/api/v1/things', {
      headers: { traceparent: `00-${traceId}-b7ad6b7169203331-01` },
    });
    expect(response.headers.get('x-request-id')).toBe(traceId);
    expect(received[0]!.headers['traceparent']).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
  });
});

describe('a request without a credential', () => {
  it('tells its service from which network it comes, and one with a credential does not', async () => {
    const { fetch, received } = await start();
    await fetch('/greeting', { as: null });
    await fetch('/greeting');
    expect(received.map(({ claims }) => claims.network)).toEqual(['127.0.0.1', undefined]);
  });
});

describe('the tenant of a request', () => {
  const tenantOf = async (
    path: string,
    init: Parameters<Awaited<ReturnType<typeof start>>['fetch']>[1],
    environment = {},
  ) => {
    const { fetch, received } = await start(environment);
    const response = await fetch(path, init);
    return response.status === 200 ? received[0]!.claims.tenantId : response.status;
  };
  const naming = (tenantId: string, as: Record<string, unknown>) => ({
    headers: { 'x-tenant-id': tenantId },
    as,
  });

  it('is that of the token, or the host tenant without a token', async () => {
    expect(await tenantOf('/api/v1/things', {})).toBe(TENANT_ID);
    expect(await tenantOf('/api/v1/things', { as: { tenantId: undefined } })).toBe(HOST_TENANT_ID);
  });

  it('can be another one only if the token names it', async () => {
    expect(await tenantOf('/api/v1/things', naming(OTHER_TENANT_ID, { tenants: [OTHER_TENANT_ID] }))).toBe(
      OTHER_TENANT_ID,
    );
    expect(await tenantOf('/api/v1/things', naming(OTHER_TENANT_ID, {}))).toBe(403);
  });

  it('can be any tenant for callers of the host tenant with the permission to switch, and for no other caller', async () => {
    const permissions = ['Platform.Tenants.Switch'];
    expect(
      await tenantOf(
        '/api/v1/things',
        naming(TENANT_ID, { tenantId: HOST_TENANT_ID, roles: [], permissions }),
      ),
    ).toBe(TENANT_ID);
    expect(await tenantOf('/api/v1/things', naming(OTHER_TENANT_ID, { permissions }))).toBe(403);
    expect(await tenantOf('/api/v1/things', naming(TENANT_ID, { tenantId: HOST_TENANT_ID, roles: [] }))).toBe(
      403,
    );
  });

  it('must be a UUID in X-Tenant-Id', async () => {
    expect(await tenantOf('/api/v1/things', naming('acme', {}))).toBe(400);
  });

  it('is taken from the query, then from the host name, then is the host tenant, for requests without a credential', async () => {
    const anonymous = { as: null };
    expect(await tenantOf('/greeting?tenant=acme', anonymous)).toBe(TENANT_ID);
    expect(await tenantOf(`/greeting?tenant=${OTHER_TENANT_ID}`, anonymous)).toBe(OTHER_TENANT_ID);
    expect(await tenantOf('/greeting?tenant=nobody', anonymous)).toBe(404);
    expect(await tenantOf('/greeting', anonymous)).toBe(HOST_TENANT_ID);
    const byAddress = JSON.stringify([
      { id: TENANT_ID, shortName: 'acme', name: 'Acme', hosts: ['127.0.0.1'] },
    ]);
    expect(await tenantOf('/greeting', anonymous, { PLINTH_TENANTS: byAddress })).toBe(TENANT_ID);
  });

  it('in the query follows the rules of the token where there is a credential', async () => {
    expect(await tenantOf(`/greeting?tenant=${OTHER_TENANT_ID}`, {})).toBe(403);
    expect(await tenantOf('/greeting?tenant=acme', {})).toBe(TENANT_ID);
  });
});

describe('access to an endpoint', () => {
  const statusOf = async (path: string, as: Record<string, unknown> | null, method = 'GET') => {
    const { fetch } = await start();
    return (await fetch(path, { as, method })).status;
  };
  const withoutRoles = { roles: [] };

  it('requires a credential unless the contract says otherwise', async () => {
    expect(await statusOf('/api/v1/things', null)).toBe(401);
    expect(await statusOf('/api/v1/greeting', null)).toBe(200);
    expect(await statusOf('/api/v1/news', null)).toBe(200);
  });

  it('requires the permission of the contract', async () => {
    expect(await statusOf('/api/v1/things/x', withoutRoles)).toBe(403);
    expect(await statusOf('/api/v1/things/x', { roles: ['viewer'] })).toBe(200);
    expect(await statusOf('/api/v1/scoped/user', withoutRoles)).toBe(200);
    expect(await statusOf('/api/v1/scoped/tenant', withoutRoles)).toBe(403);
    expect(await statusOf('/api/v1/scoped/%74enant', withoutRoles)).toBe(403);
  });

  it('that concerns all tenants is limited to callers of the host tenant', async () => {
    expect(await statusOf('/api/v1/things/x', {}, 'DELETE')).toBe(403);
    expect(await statusOf('/api/v1/things/x', { tenantId: HOST_TENANT_ID }, 'DELETE')).toBe(200);
  });
});
