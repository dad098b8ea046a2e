import { randomUUID } from 'node:crypto';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { eventually } from '@plinth/testing/eventually';
import { silentLog } from '@plinth/runtime/process/log';
import { infrastructure } from '@plinth/testing/infrastructure';
import { startSilentProxy } from '@plinth/testing/silent-proxy';
import { openRedis } from '../src/redis';
import { post, postUntilDone, startGuardedService } from './guarded-service';
import { closeAll, onCloseAll, startGateway, type StartedGateway } from './start-gateway';

afterEach(closeAll);

/** A part of the shared Redis that no other test uses, so that it can be emptied. */
const OWN_DATABASE = 7;

const LONGER_THAN_ANYBODY_WAITS = 3_000;

const uncounted = async ({ gateway }: StartedGateway): Promise<boolean> =>
  /decision="uncounted"/.test(await gateway.metrics.metrics());

/** A proxy of Redis that can delay its responses, and knows what it was sent. */
async function startSlowProxy() {
  const redis = new URL(infrastructure().redisUrl);
  const proxy = { delayMilliseconds: 0, url: '', sent: '' };
  const server = createServer((client) => {
    const target = connect(Number(redis.port), redis.hostname);
    client.on('data', (chunk) => (proxy.sent += chunk)).pipe(target);
    let order = Promise.resolve();
    target.on('data', (chunk) => {
      const held = pause(proxy.delayMilliseconds);
      order = order.then(() => held).then(() => void client.write(chunk));
    });
    client.on('close', () => target.destroy()).on('error', () => target.destroy());
    target.on('close', () => client.destroy()).on('error', () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onCloseAll(() => server.close());
  proxy.url = `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return proxy;
}

describe('idempotency keys while Redis loses all data again and again', () => {
  it('never have a second effect or a different response', async () => {
    const CLIENTS = 20;
    const KEYS = 5;
    const url = `${infrastructure().redisUrl}/${OWN_DATABASE}`;
    const redis = new Redis(url);
    onCloseAll(() => redis.disconnect());
    const service = await startGuardedService();
    const gateways = await Promise.all(
      [1, 2].map(() => startGateway({ things: service.url }, { REDIS_URL: url })),
    );
    const forgetting = setInterval(() => void redis.flushdb(), 2);
    for (let count = 0; count < KEYS; count++) {
      const key = randomUUID();
      const responses = await Promise.all(
        Array.from({ length: CLIENTS }, (_, index) => postUntilDone(gateways[index % 2]!, key)),
      );
      expect(new Set(responses.map(({ id }) => id)).size).toBe(1);
    }
    clearInterval(forgetting);
    expect(service.effects()).toBe(KEYS);
  });
});

describe('a slow Redis', () => {
  const SCALED = { IDEMPOTENCY_TIMEOUT_MILLISECONDS: '800', IDEMPOTENCY_MARKER_MILLISECONDS: '1200' };

  it('is waited for as long as it responds within a second', async () => {
    const proxy = await startSlowProxy();
    const service = await startGuardedService();
    const gateway = await startGateway({ things: service.url }, { REDIS_URL: proxy.url });
    const key = randomUUID();
    proxy.delayMilliseconds = 100;
    expect((await post(gateway, key)).status).toBe(201);
    expect((await post(gateway, key)).headers.get('x-idempotency-replayed')).toBe('true');
    expect(await uncounted(gateway)).toBe(false);
  });

  it('is treated as unavailable after a second: keys are refused, other requests pass, and no effect happens twice', async () => {
    const proxy = await startSlowProxy();
    const service = await startGuardedService();
    const gateway = await startGateway({ things: service.url }, { REDIS_URL: proxy.url, ...SCALED });
    const key = randomUUID();
    await gateway.token();
    proxy.delayMilliseconds = LONGER_THAN_ANYBODY_WAITS;
    const refused = await post(gateway, key);
    expect([refused.status, refused.headers.has('retry-after')]).toEqual([503, true]);
    expect(service.effects()).toBe(0);
    expect((await gateway.fetch('/api/v1/nowhere')).status).toBe(404);
    expect(await uncounted(gateway)).toBe(true);
    proxy.delayMilliseconds = 0;
    const first = await postUntilDone(gateway, key);
    expect(await postUntilDone(gateway, key)).toEqual(first);
    expect(service.effects()).toBe(1);
  });
});

describe('a process that stood still', () => {
  it('reads what Redis has long responded, and keeps its connection', async () => {
    const redis = await openRedis(infrastructure().redisUrl, silentLog());
    onCloseAll(() => redis.disconnect());
    const closed = jest.fn();
    redis.once('close', closed);
    const pong = redis.ping();

    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LONGER_THAN_ANYBODY_WAITS);

    expect(await pong).toBe('PONG');
    expect(await redis.ping()).toBe('PONG');
    expect(closed).not.toHaveBeenCalled();
  });
});

describe('a Redis that sets a marker when its gateway has given up already', () => {
  it('makes the next attempt wait for nobody, since nothing runs', async () => {
    const proxy = await startSlowProxy();
    const service = await startGuardedService();
    const gateway = await startGateway({ things: service.url }, { REDIS_URL: proxy.url });
    const key = randomUUID();
    await gateway.token();
    proxy.delayMilliseconds = 1_500;
    const statuses = [(await post(gateway, key)).status];
    proxy.delayMilliseconds = 0;
    await eventually(async () => {
      statuses.push((await post(gateway, key)).status);
      return statuses.at(-1) === 201;
    });
    expect([...new Set(statuses)]).toEqual([503, 201]);
    expect(service.effects()).toBe(1);
  });

  it('neither where its client has left meanwhile', async () => {
    const proxy = await startSlowProxy();
    const service = await startGuardedService();
    const gateway = await startGateway({ things: service.url }, { REDIS_URL: proxy.url });
    const as = { tenantId: undefined };
    await gateway.token(as);
    // Without a body it is certain that the request is counted and its key claimed together.
    const deletion = { method: 'DELETE', headers: { 'idempotency-key': randomUUID() }, as };
    const remove = (signal: AbortSignal | null = null) =>
      gateway.fetch('/api/v1/things/1', { ...deletion, signal });
    proxy.delayMilliseconds = 1_500;
    const leaving = new AbortController();
    const left = remove(leaving.signal).catch(() => 'left');
    await eventually(() => proxy.sent.includes('plinth:idempotency:'));
    leaving.abort();
    await left;
    await eventually(() => uncounted(gateway));
    proxy.delayMilliseconds = 0;

    const statuses: number[] = [];
    await eventually(async () => statuses.push((await remove()).status) && statuses.at(-1) !== 503);
    expect(statuses.at(-1)).toBe(201);
  });
});

describe('a Redis that was lost without a word, with its machine', () => {
  it('is left for the one that took its place', async () => {
    const proxy = await startSilentProxy(Number(new URL(infrastructure().redisUrl).port));
    onCloseAll(proxy.close);
    const service = await startGuardedService();
    const url = `redis://127.0.0.1:${proxy.port}`;
    const gateway = await startGateway({ things: service.url }, { REDIS_URL: url });
    await postUntilDone(gateway, randomUUID());

    proxy.lose();

    await eventually(async () => (await post(gateway, randomUUID())).status === 201);
  });
});

/** A proxy of Redis whose connections of now are left with a replica when another server takes over. */
async function startProxyOfPrimary() {
  const { port, hostname } = new URL(infrastructure().redisUrl);
  const demoted = new WeakSet<Socket>();
  const clients = new Set<Socket>();
  const server = createServer((client) => {
    const target = connect(Number(port), hostname);
    clients.add(client);
    client.on('data', (chunk) => {
      if (!demoted.has(client)) target.write(chunk);
      else client.write("-READONLY You can't write against a read only replica.\r\n");
    });
    target.on('data', (chunk) => client.write(chunk));
    client.on('close', () => target.destroy()).on('error', () => target.destroy());
    target.on('error', () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onCloseAll(() => server.close());
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    failOver: () => clients.forEach((client) => demoted.add(client)),
  };
}

describe('a Redis that became a replica', () => {
  it('is left for the one that took its place', async () => {
    const proxy = await startProxyOfPrimary();
    const service = await startGuardedService();
    const gateway = await startGateway({ things: service.url }, { REDIS_URL: proxy.url });
    await postUntilDone(gateway, randomUUID());

    proxy.failOver();

    await eventually(async () => (await post(gateway, randomUUID())).status === 201);
  });
});
