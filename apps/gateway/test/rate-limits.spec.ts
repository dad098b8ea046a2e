import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { eventually } from '@plinth/testing/eventually';
import { infrastructure } from '@plinth/testing/infrastructure';
import { Redis } from 'ioredis';
import { addressOf } from '../src/limits/limit-request';
import { networkOf } from '../src/limits/policies';
import { RateLimiter } from '../src/limits/rate-limiter';
import { closeAll, echo, onCloseAll, startGateway, startUpstream } from './start-gateway';

afterEach(closeAll);

const limits = (user: number, tenant = 1_000, address = 1_000, more: Record<string, unknown> = {}) => ({
  RATE_LIMITS: JSON.stringify({ default: { user, tenant, address }, ...more }),
});

const start = async (environment: Record<string, string>) =>
  startGateway({ things: await startUpstream(echo()) }, environment);

/** The claims of a new user, by default in a new tenant. */
const newUser = (tenantId: string = randomUUID()) => ({ sub: randomUUID(), tenantId });

describe('the rate limit of a user', () => {
  it('holds exactly across all gateways', async () => {
    const gateways = await Promise.all([start(limits(10)), start(limits(10)), start(limits(10))]);
    const as = newUser();
    const responses = await Promise.all(
      Array.from({ length: 60 }, (_, index) => gateways[index % 3]!.fetch('/api/v1/things', { as })),
    );
    const statuses = responses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(50);
  });

  it('is described in every response: the limit, what is left, and when it grows', async () => {
    const { fetch } = await start(limits(3));
    const as = newUser();
    const received = [];
    for (const path of ['/api/v1/things', '/api/v1/nowhere', '/api/v1/things/%zz', '/api/v1/things']) {
      const { status, headers } = await fetch(path, { as });
      expect(headers.get('ratelimit-policy')).toBe('"user";q=3;w=60, "tenant";q=1000;w=60');
      received.push([status, headers.get('ratelimit')!.replace(/t=\d+$/, 't')]);
    }
    expect(received).toEqual([
      [200, '"user";r=2;t'],
      [404, '"user";r=1;t'],
      [400, '"user";r=0;t'],
      [429, '"user";r=0;t'],
    ]);
  });

  it('refuses requests with a problem and the seconds to wait', async () => {
    const { fetch } = await start(limits(1));
    const as = newUser();
    const redis = new Redis(infrastructure().redisUrl);
    onCloseAll(() => redis.disconnect());
    const [before] = await redis.time();
    await fetch('/api/v1/things', { as });
    const refused = await fetch('/api/v1/things', { as });
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({
      status: 429,
      type: expect.stringContaining('/problems/too-many-requests'),
    });
    const [after] = await redis.time();
    const elapsed = Number(after) - Number(before);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(59 - elapsed);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(63);
  });

  it('does not affect other users', async () => {
    const { fetch } = await start(limits(1));
    const tenantId = randomUUID();
    expect((await fetch('/api/v1/things', { as: newUser(tenantId) })).status).toBe(200);
    expect((await fetch('/api/v1/things', { as: newUser(tenantId) })).status).toBe(200);
  });
});

describe('rate limits', () => {
  it('are a quarter for expensive endpoints, where an installation says nothing else', async () => {
    const { fetch } = await start(limits(8));
    const as = newUser();
    const put = () => fetch('/api/v1/things/a', { method: 'PUT', body: '{}', as });
    expect([(await put()).status, (await put()).status, (await put()).status]).toEqual([200, 200, 429]);
    expect((await fetch('/api/v1/things', { as })).status).toBe(200);
  });

  it('hold for a tenant as a whole', async () => {
    const { fetch } = await start(limits(1_000, 2));
    const tenantId = randomUUID();
    const statuses = [];
    for (const as of [newUser(tenantId), newUser(tenantId), newUser(tenantId), newUser()]) {
      statuses.push((await fetch('/api/v1/things', { as })).status);
    }
    expect(statuses).toEqual([200, 200, 429, 200]);
  });

  it('hold for an address without a credential or with one that is not valid', async () => {
    const { fetch } = await start({ ...limits(1_000, 1_000, 3), TRUSTED_PROXIES: '1' });
    const headers = {
      'x-forwarded-for': `203.0.113.1, 10.0.${Math.floor(Math.random() * 250)}.${Math.floor(Math.random() * 250)}`,
    };
    const bad = { ...headers, authorization: 'Bearer bad' };
    const statuses = [];
    for (const [path, sent] of [
      ['/greeting', headers],
      ['/api/v1/things', bad],
      ['/nowhere', headers],
      ['/problems', headers],
    ] as const) {
      const response = await fetch(path, { as: null, headers: sent });
      expect(response.headers.get('ratelimit-policy')).toBe('"address";q=3;w=60');
      statuses.push(response.status);
    }
    expect(statuses).toEqual([200, 401, 404, 429]);
  });

  it('do not count tokens, health checks and preflights', async () => {
    const { fetch, url } = await start({ ...limits(1, 1, 1), TRUSTED_PROXIES: '1' });
    const headers = { 'x-forwarded-for': randomUUID() };
    for (const path of ['/healthz', '/healthz', '/readyz', '/readyz']) {
      expect((await fetch(path, { as: null, headers })).status).not.toBe(429);
    }
    for (let count = 0; count < 3; count++) {
      const body = JSON.stringify({ sub: 'ada' });
      const token = await globalThis.fetch(`${url}/dev/token`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body,
      });
      expect(token.status).toBe(200);
      const asking = { ...headers, origin: 'http://localhost:3000', 'access-control-request-method': 'PUT' };
      expect((await fetch('/api/v1/things', { as: null, method: 'OPTIONS', headers: asking })).status).toBe(
        204,
      );
    }
  });

  it('have separate limits for a class of endpoints that is configured', async () => {
    const { fetch } = await start(limits(1_000, 1_000, 1_000, { expensive: { user: 1, tenant: 1_000 } }));
    const as = newUser();
    const render = () =>
      fetch('/api/v1/things/x', { as: { ...as, roles: ['admin'] }, method: 'PUT', body: '{}' });
    expect((await fetch('/api/v1/things', { as })).headers.get('ratelimit-policy')).toContain('q=1000');
    expect((await render()).status).toBe(200);
    const refused = await render();
    expect([refused.status, refused.headers.get('ratelimit-policy')]).toEqual([
      429,
      '"user";q=1;w=60, "tenant";q=1000;w=60',
    ]);
    expect((await fetch('/api/v1/things', { as })).status).toBe(200);
  });

  it('allow every request while Redis is unavailable, and count it as uncounted in the metrics', async () => {
    const { fetch, gateway } = await start({ ...limits(1), REDIS_URL: 'redis://127.0.0.1:1' });
    const as = newUser();
    for (let count = 0; count < 3; count++) expect((await fetch('/api/v1/things', { as })).status).toBe(200);
    const metrics = await gateway.metrics.metrics();
    expect(metrics).toMatch(/plinth_gateway_rate_limit_decisions_total\{[^}]*decision="uncounted"[^}]*\} 3/);
  });
});

describe('a sliding sum of requests', () => {
  it('is that of its slices, also where a gateway of a version before adds to them', async () => {
    const redis = new Redis(infrastructure().redisUrl);
    onCloseAll(() => redis.disconnect());
    const limiter = new RateLimiter(redis);
    const quota = { key: `test:${randomUUID()}`, scope: 'user', limit: 10 } as const;
    const key = `plinth:limit:${quota.key}`;
    const slice = Math.floor(Number((await redis.time())[0]) / 3);
    await redis.hset(key, { [slice - 40]: 100, [slice - 5]: 4 });
    // What was read in a slice before says nothing now.
    await redis.hset(key, { '-1': slice - 1, '-2': 99, '-3': slice - 5 });
    const remaining = [];
    for (let count = 0; count < 2; count++) remaining.push((await limiter.consume([quota])).remaining);
    // It takes what it does not know for slices that are over.
    await redis.hdel(key, '-1', '-2', '-3');
    await redis.hincrby(key, String(slice), 3);
    remaining.push((await limiter.consume([quota])).remaining);

    expect(remaining).toEqual([5, 4, 0]);
    expect((await limiter.consume([quota])).allowed).toBe(false);
    expect(await redis.hexists(key, String(slice - 40))).toBe(0);
    expect(await redis.pttl(key)).toBeGreaterThan(60_000);
  });
});

describe('the rate limit of an address', () => {
  it.each([
    ['203.0.113.9', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002::1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('counts %s as %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});

describe('behind a trusted proxy', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1:4711'],
    ['2001:db8::1', '[2001:db8::1]:4711'],
    ['2001:db8::1', '[2001:db8::1]'],
  ])('a client is the same where the proxy names its port: %s, %s', (address, hop) => {
    const request = { socket: {}, headers: { 'x-forwarded-for': `203.0.113.1, ${hop}` } } as never;
    expect(addressOf(request, 1)).toBe(address);
  });

  it('one client cannot use up what another one may do at the same time', async () => {
    const waiting: ServerResponse[] = [];
    const things = await startUpstream((_request, response) => void waiting.push(response));
    const environment = { TRUSTED_PROXIES: '1', CONNECTIONS_PER_ADDRESS_MAX: '3' };
    const { fetch } = await startGateway({ things }, environment);
    const from = (address: string) => fetch('/api/v1/things', { headers: { 'x-forwarded-for': address } });
    const begun = [from('192.0.2.1'), from('192.0.2.1'), from('192.0.2.1')];
    await eventually(() => waiting.length === 3);
    expect((await from('192.0.2.1')).status).toBe(429);
    begun.push(from('192.0.2.2'));
    await eventually(() => waiting.length === 4);
    for (const response of waiting) response.end('[]');
    expect((await Promise.all(begun)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });
});
