import { randomInt } from 'node:crypto';
import type { ServerWritableStream } from '@grpc/grpc-js';
import { hashOfApiKey, newApiKey } from '@plinth/kernel/api-key';
import { protoPackages } from '@plinth/proto/packages';
import type { ApiKeyRevocation } from '@plinth/proto/generated/plinth/settings/v1/ApiKeyRevocation';
import type { FindApiKeyRequest__Output } from '@plinth/proto/generated/plinth/settings/v1/FindApiKeyRequest';
import type { FindApiKeyResponse } from '@plinth/proto/generated/plinth/settings/v1/FindApiKeyResponse';
import { silentLog } from '@plinth/runtime/process/log';
import { grpcHandlers, serveGrpc } from '@plinth/runtime/rpc/grpc';
import { ALL_BUT_INTERVALS } from '@plinth/testing/all-but';
import { eventually } from '@plinth/testing/eventually';
import { infrastructure } from '@plinth/testing/infrastructure';
import { ApiKeys } from '../src/identity/api-keys';
import {
  CALLER_KEY,
  closeAll,
  echo,
  onCloseAll,
  startGateway,
  startUpstream,
  TENANT_ID,
  type ReceivedRequest,
} from './start-gateway';
import { stopDate } from './stop-date';

afterEach(closeAll);

type Watch = ServerWritableStream<unknown, ApiKeyRevocation>;

/** The settings service as far as the gateway asks it: with the keys of the test. */
async function startSettings() {
  const { unary } = grpcHandlers([CALLER_KEY], silentLog());
  const keys = new Map<string, NonNullable<FindApiKeyResponse['key']>>();
  const watches = new Set<Watch>();
  const settings = { held: Promise.resolve() };
  let lookups = 0;
  const Find = unary<FindApiKeyRequest__Output, FindApiKeyResponse>(async ({ hash }) => {
    lookups += 1;
    const found = keys.has(hash) ? { key: { ...keys.get(hash)! } } : {};
    await settings.held;
    return found;
  });
  const WatchRevocations = (watch: Watch): void => {
    watches.add(watch);
    watch.once('close', () => watches.delete(watch));
    watch.write({});
  };
  const service = {
    definition: protoPackages.settings.v1.ApiKeys.service,
    handlers: { Find, WatchRevocations },
  };
  const server = await serveGrpc({ HTTP_HOST: '127.0.0.1', GRPC_PORT: 0 }, [service]);
  const end = async (): Promise<void> => {
    for (const watch of watches) watch.end();
    await server.close();
  };
  onCloseAll(end);
  return {
    address: `127.0.0.1:${server.port}`,
    watches,
    lookups: () => lookups,
    /** From now on a look-up is answered with what was true before, when `until` resolves. */
    hold: (until: Promise<void>) => void (settings.held = until),
    end,
    add(parts: object = {}) {
      const key = newApiKey();
      keys.set(hashOfApiKey(key), {
        id: idOf(key),
        tenantId: TENANT_ID,
        userId: 'ada',
        userName: 'Ada',
        permissions: ['Templating.Templates.Read'],
        expiresAt: Date.now() + 60_000,
        isRevoked: false,
        ...parts,
      });
      return key;
    },
    /** Revokes a key, and tells nobody. */
    revokeSilently(id: string) {
      for (const key of keys.values()) if (key.id === id) key.isRevoked = true;
    },
    revoke(key: string) {
      const id = idOf(key);
      this.revokeSilently(id);
      for (const watch of watches) watch.write({ id });
    },
  };
}

const idOf = (key: string): string => hashOfApiKey(key).slice(0, 8);

async function start(environment: Record<string, string> = {}) {
  const settings = await startSettings();
  const received: ReceivedRequest[] = [];
  const things = await startUpstream((request, response) => {
    if (request.method === 'DELETE') {
      settings.revokeSilently(request.url!.split('/').at(-1)!.toLowerCase());
      return void response.writeHead(204).end();
    }
    if (request.url !== '/api/v1/things/all/events') return echo(received)(request, response);
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('event: begun\ndata: {}\n\n');
  });
  const more = { GRPC_SERVICES: `settings=${settings.address}`, ...environment };
  const gateways = [await startGateway({ things }, more), await startGateway({ things }, more)] as const;
  await eventually(() => settings.watches.size === gateways.length);
  const send = async (key: string, gateway = gateways[0], path = '/api/v1/things/one') =>
    gateway.fetch(path, { headers: { authorization: `Bearer ${key}` } });
  const revoke = async (key: string, headers: Record<string, string> = {}, id = idOf(key)) =>
    gateways[0].fetch(`/api/v1/api-keys/${id}`, { method: 'DELETE', headers });
  return { settings, received, gateways, send, revoke };
}

/** An address where nobody listens. */
const NO_REDIS = { REDIS_URL: 'redis://127.0.0.1:1', IDEMPOTENCY_REDIS_URL: infrastructure().redisUrl };

describe('an API key', () => {
  it('stands for its user, with its own permissions and no others', async () => {
    const { settings, received, send } = await start();
    const key = settings.add();

    expect((await send(key)).status).toBe(200);
    expect(received[0]!.claims.caller).toMatchObject({
      tenantId: TENANT_ID,
      userId: 'ada',
      userName: 'Ada',
      permissions: ['Templating.Templates.Read'],
      apiKeyId: idOf(key),
      credentialExpiresAt: expect.any(Number),
    });
    expect((await send(key, undefined, '/api/v1/scoped/tenant')).status).toBe(403);
  });

  it('is looked up once for many requests', async () => {
    stopDate();
    const { settings, send } = await start();
    const key = settings.add();

    await Promise.all(Array.from({ length: 50 }, () => send(key)));
    await send(key);

    expect(settings.lookups()).toBe(1);
  });

  it.each([{}, { 'idempotency-key': 'one' }])(
    'is refused by every gateway as soon as its revocation is confirmed, although no message says so: %j',
    async (headers) => {
      stopDate();
      const { settings, gateways, send, revoke } = await start();
      const key = settings.add();
      for (const gateway of gateways) expect((await send(key, gateway)).status).toBe(200);

      expect((await revoke(key, headers)).status).toBe(204);

      for (const gateway of gateways) expect((await send(key, gateway)).status).toBe(401);
      expect(settings.lookups()).toBe(gateways.length);
    },
  );

  it('is refused after its revocation also where a look-up from before it is still on its way', async () => {
    const { settings, gateways, send, revoke } = await start();
    const key = settings.add();
    const { promise, resolve } = Promise.withResolvers<void>();
    settings.hold(promise);
    const earlier = send(key, gateways[1]);
    await eventually(() => settings.lookups() === 1);

    expect((await revoke(key)).status).toBe(204);
    const later = send(key, gateways[1]);
    resolve();

    expect([(await earlier).status, (await later).status]).toEqual([401, 401]);
  });

  it('is looked up for each request while Redis is away, and no revocation is confirmed', async () => {
    const { settings, send, revoke } = await start(NO_REDIS);
    const key = settings.add();
    for (let count = 0; count < 3; count++) expect((await send(key)).status).toBe(200);

    const response = await revoke(key, { 'idempotency-key': 'one' });

    expect([response.status, response.headers.has('retry-after')]).toEqual([503, true]);
    expect((await send(key)).status).toBe(401);
  });

  it('ends its event streams when it is revoked', async () => {
    const { settings, send } = await start();
    const [key, other] = [settings.add({ permissions: ['*'] }), settings.add({ permissions: ['*'] })];
    const [stream, staying] = [
      await send(key, undefined, '/api/v1/things/all/events'),
      await send(other, undefined, '/api/v1/things/all/events'),
    ];
    expect([stream.status, staying.status]).toEqual([200, 200]);

    settings.revoke(key);

    await expect(stream.text()).rejects.toThrow();
    expect((await staying.body!.getReader().read()).done).toBe(false);
  });

  it('ends its event streams within seconds when it is revoked and no message says so, in whichever case', async () => {
    jest.useFakeTimers({ doNotFake: ALL_BUT_INTERVALS });
    onCloseAll(() => jest.useRealTimers());
    const { settings, gateways, send, revoke } = await start();
    const key = settings.add({ permissions: ['*'] });
    const stream = await send(key, gateways[1], '/api/v1/things/all/events');
    expect(stream.status).toBe(200);

    expect((await revoke(key, {}, idOf(key).toUpperCase())).status).toBe(204);

    expect((await send(key)).status).toBe(401);
    jest.advanceTimersByTime(5_000);
    await expect(stream.text()).rejects.toThrow();
  });

  it.each([
    ['expired', { expiresAt: Date.now() - 1 }, 'The API key has expired.'],
    ['was revoked', { isRevoked: true }, 'The API key was revoked.'],
  ])('is refused when it %s', async (_what, parts, detail) => {
    const { settings, send } = await start();
    const response = await send(settings.add(parts));

    expect([response.status, await response.json()]).toEqual([401, expect.objectContaining({ detail })]);
  });

  it('that nobody has is refused; one that is mistyped is not even looked up', async () => {
    const { settings, send } = await start();
    const mistyped = `${newApiKey().slice(0, -1)}-`;

    expect((await send(mistyped)).status).toBe(401);
    expect(settings.lookups()).toBe(0);
    expect((await send(newApiKey())).status).toBe(401);
    expect(settings.lookups()).toBe(1);
  });

  it('cannot be found by trying: look-ups count against the address', async () => {
    const limits = { default: { user: 1_000, tenant: 1_000, address: 5 } };
    const environment = { RATE_LIMITS: JSON.stringify(limits), TRUSTED_PROXIES: '1' };
    const { settings, gateways } = await start(environment);
    const address = `2001:db8:${randomInt(0xffff).toString(16)}:${randomInt(0xffff).toString(16)}::1`;
    const statuses: number[] = [];
    for (let count = 0; count < 12; count++) {
      const headers = { authorization: `Bearer ${newApiKey()}`, 'x-forwarded-for': address };
      statuses.push((await gateways[0].fetch('/api/v1/things', { headers })).status);
    }

    expect(new Set(statuses)).toEqual(new Set([401, 429]));
    expect(settings.lookups()).toBeLessThanOrEqual(5);
  });

  it('gets 503 while the settings service is away, unless it was seen in the last minute and Redis says that it was not revoked', async () => {
    const { settings, send } = await start();
    let now = Date.now();
    let isRevoked: boolean | undefined = false;
    const keys = new ApiKeys({
      address: settings.address,
      callerKeys: [CALLER_KEY],
      clock: { now: () => new Date(now) },
      revoked: { has: async () => isRevoked },
      inUse: () => [],
      onRevoked: () => undefined,
    });
    onCloseAll(() => keys.close());
    const key = settings.add({ expiresAt: now + 3_600_000 });
    const identify = async () => keys.identify(key, async () => undefined);
    await identify();

    await settings.end();

    now += 59_000;
    expect(await identify()).toMatchObject({ userId: 'ada' });
    isRevoked = undefined;
    await expect(identify()).rejects.toMatchObject({ kind: 'overloaded' });
    isRevoked = true;
    await expect(identify()).rejects.toMatchObject({ kind: 'unauthenticated' });
    isRevoked = false;
    now += 2_000;
    await expect(identify()).rejects.toMatchObject({ kind: 'overloaded' });
    expect((await send(newApiKey())).status).toBe(503);
  });
});
