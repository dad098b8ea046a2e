import { randomUUID } from 'node:crypto';
import { createServer as createTcpServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { RequestListener } from 'node:http';
import { Redis } from 'ioredis';
import { infrastructure } from '@plinth/testing/infrastructure';
import { IdempotencyRecords, newRun, recordKeyOf } from '../src/idempotency/records';
import {
  closeAll,
  onCloseAll,
  OTHER_TENANT_ID,
  receive,
  sendJson,
  startGateway,
  startUpstream,
  TENANT_ID,
  type ReceivedRequest,
  type StartedGateway,
} from './start-gateway';

afterEach(closeAll);

/** A service that responds with the result of `respond`, after `gate` resolves. */
function service(
  respond: (received: ReceivedRequest) => {
    status: number;
    body?: unknown;
    headers?: Record<string, string>;
  } = () => ({
    status: 201,
    body: { id: randomUUID() },
  }),
  gate: () => Promise<void> = async () => undefined,
) {
  const received: ReceivedRequest[] = [];
  const listener: RequestListener = (request, response) => {
    void (async () => {
      const receivedRequest = await receive(request);
      received.push(receivedRequest);
      await gate();
      const { status, body, headers } = respond(receivedRequest);
      if (body === undefined) response.writeHead(status, headers).end();
      else sendJson(response, status, body, headers);
    })().catch(() => response.destroy());
  };
  return { received, listener };
}

const start = async (things: ReturnType<typeof service>, environment: Record<string, string> = {}) => {
  const gateway = await startGateway({ things: await startUpstream(things.listener) }, environment);
  return { ...gateway, received: things.received };
};

type Init = Parameters<StartedGateway['fetch']>[1] & { key?: string };

const post = (gateway: Pick<StartedGateway, 'fetch'>, { key, ...init }: Init = {}, path = '/api/v1/things') =>
  gateway.fetch(path, {
    method: 'POST',
    body: '{"name":"a"}',
    ...init,
    headers: {
      'content-type': 'application/json',
      ...(key === undefined ? {} : { 'idempotency-key': key }),
      ...(init.headers as object),
    },
  });

function opened() {
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  return { gate: () => gate, open };
}

const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
};

describe('a request with an idempotency key', () => {
  it('to an endpoint that shows a secret runs again with the same operation id: no secret is stored', async () => {
    const gateway = await start(service(() => ({ status: 201, body: { key: `secret-${randomUUID()}` } })));
    const first = await (await post(gateway, { key: 'once' }, '/api/v1/secrets')).text();
    const again = await post(gateway, { key: 'once' }, '/api/v1/secrets');

    expect([again.headers.has('x-idempotency-replayed'), await again.text()]).not.toEqual([true, first]);
    const [one, two] = gateway.received.map(({ claims }) => claims.caller?.operationId);
    expect([typeof one, two]).toEqual(['string', one]);
    const redis = new Redis(infrastructure().redisUrl);
    onCloseAll(() => redis.disconnect());
    for (const key of await redis.keys('*'))
      expect(JSON.stringify(await redis.hgetallBuffer(key).catch(() => redis.getBuffer(key)))).not.toContain(
        first,
      );
  });

  it('runs once; its repetition gets the stored response with the stored headers only', async () => {
    const headers = {
      location: '/api/v1/things/1',
      etag: '"1"',
      'x-template-warnings': '3',
      'set-cookie': 'a=b',
      'content-disposition': 'inline',
    };
    const gateway = await start(service(() => ({ status: 201, body: { id: randomUUID() }, headers })));
    const key = randomUUID();
    const first = await post(gateway, { key });
    const again = await post(gateway, { key });
    expect(gateway.received).toHaveLength(1);
    expect(first.headers.get('x-idempotency-replayed')).toBeNull();
    expect(first.headers.get('x-template-warnings')).toBe('3');
    expect(first.headers.get('set-cookie')).toBeNull();
    expect([again.status, await again.text()]).toEqual([201, await first.text()]);
    expect(again.headers.get('x-idempotency-replayed')).toBe('true');
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    for (const name of ['location', 'etag', 'content-type', 'content-disposition']) {
      expect(again.headers.get(name)).toBe(first.headers.get(name));
    }
    expect(again.headers.get('x-template-warnings')).toBeNull();
    expect(again.headers.get('cache-control')).toBe('no-store');
    expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
  });

  it('replays responses without a body and with a binary body', async () => {
    const bytes = Buffer.from([0, 255, 128, 10]);
    const gateway = await startGateway({
      things: await startUpstream((request, response) => {
        request.resume();
        if (request.method === 'DELETE') response.writeHead(204).end();
        else response.writeHead(200, { 'content-type': 'application/pdf' }).end(bytes);
      }),
    });
    const key = randomUUID();
    const deletion = { method: 'DELETE', headers: { 'idempotency-key': key }, as: { tenantId: undefined } };
    expect((await gateway.fetch('/api/v1/things/x', deletion)).status).toBe(204);
    const again = await gateway.fetch('/api/v1/things/x', deletion);
    expect([again.status, again.headers.get('x-idempotency-replayed')]).toEqual([204, 'true']);
    await post(gateway, { key });
    const replayed = await post(gateway, { key });
    expect(replayed.headers.get('x-idempotency-replayed')).toBe('true');
    expect(Buffer.from(await replayed.arrayBuffer())).toEqual(bytes);
  });

  it('is refused with 422 when its body differs from that of the first request, also in white space', async () => {
    const gateway = await start(service());
    const key = randomUUID();
    await post(gateway, { key });
    const other = await post(gateway, { key, body: '{"name": "a"}' });
    expect(other.status).toBe(422);
    expect(await other.json()).toMatchObject({
      type: 'http://localhost:8080/problems/idempotency-payload-mismatch',
      detail: expect.stringContaining('does not match'),
    });
    expect(gateway.received).toHaveLength(1);
  });

  it('is refused with 409 and Retry-After while the first request is running, with any body', async () => {
    const { gate, open } = opened();
    const gateway = await start(service(undefined, gate));
    const key = randomUUID();
    const first = post(gateway, { key });
    await until(() => gateway.received.length === 1);
    for (const body of ['{"name":"a"}', '{"name":"b"}']) {
      const second = await post(gateway, { key, body });
      expect(second.status).toBe(409);
      expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    open();
    expect((await first).status).toBe(201);
    expect((await post(gateway, { key })).headers.get('x-idempotency-replayed')).toBe('true');
    expect(gateway.received).toHaveLength(1);
  });

  it('has the same operation id on every attempt; a request without a key has none', async () => {
    let status = 503;
    const gateway = await start(
      service(() => ({ status, body: {}, headers: { 'content-type': 'application/problem+json' } })),
    );
    const key = randomUUID();
    await post(gateway, { key });
    status = 201;
    await post(gateway, { key });
    await post(gateway);
    const [first, second, third] = gateway.received.map(({ claims }) => claims.caller?.operationId);
    expect(first).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect([second, third]).toEqual([first, undefined]);
  });

  it.each([400, 404, 409, 410, 422])('is replayed when the first response was %i', async (status) => {
    const problem = { 'content-type': 'application/problem+json' };
    const gateway = await start(service(() => ({ status, body: { status }, headers: problem })));
    const key = randomUUID();
    await post(gateway, { key });
    const again = await post(gateway, { key });
    expect([
      again.status,
      again.headers.get('x-idempotency-replayed'),
      again.headers.get('content-type'),
    ]).toEqual([status, 'true', 'application/problem+json']);
    expect(gateway.received).toHaveLength(1);
  });

  it.each([401, 403, 405, 408, 412, 415, 429, 500, 501, 502, 503])(
    'runs again when the first response was %i',
    async (status) => {
      const gateway = await start(
        service(() => ({
          status,
          body: { status },
          headers: { 'content-type': 'application/problem+json' },
        })),
      );
      const key = randomUUID();
      await post(gateway, { key });
      const again = await post(gateway, { key });
      expect([again.status, again.headers.get('x-idempotency-replayed')]).toEqual([status, null]);
      expect(gateway.received).toHaveLength(2);
    },
  );

  it('goes on after another body was sent with its key, which the service alone remembers', async () => {
    const bodies: string[] = [];
    const headers = { 'content-type': 'application/problem+json' };
    const type = 'http://localhost/problems/idempotency-payload-mismatch';
    const gateway = await start(
      service(({ claims }) => {
        const { operationBodyHash } = claims.caller!;
        bodies.push(operationBodyHash!);
        // The response to the first request is lost.
        if (bodies.length === 1) return { status: 503, body: { status: 503 }, headers };
        return operationBodyHash === bodies[0]
          ? { status: 201, body: { id: 'first' } }
          : { status: 422, body: { type, status: 422 }, headers };
      }),
    );

    const key = randomUUID();
    const statuses = [];
    for (const body of ['{"name":"a"}', '{"name":"b"}', '{"name":"a"}', '{"name":"b"}'])
      statuses.push((await post(gateway, { key, body })).status);

    expect(statuses).toEqual([503, 422, 201, 422]);
    expect(bodies).toHaveLength(3);
  });

  it('is independent of the same key of another user, tenant, method, path or query', async () => {
    const gateway = await start(
      service((received) => ({
        status: 200,
        body: [received.claims.caller!.userId, received.claims.tenantId, received.method, received.url],
      })),
    );
    const key = randomUUID();
    const requests: [Init, string][] = [
      [{ key }, '/api/v1/things'],
      [{ key, as: { sub: 'bob' } }, '/api/v1/things'],
      [{ key, as: { tenantId: OTHER_TENANT_ID } }, '/api/v1/things'],
      [
        { key, as: { tenants: [OTHER_TENANT_ID] }, headers: { 'x-tenant-id': OTHER_TENANT_ID } },
        '/api/v1/things?y',
      ],
      [{ key, method: 'PUT' }, '/api/v1/things/x'],
      [{ key, method: 'PUT' }, '/api/v1/things/y'],
      [{ key }, '/api/v1/things?a=1'],
      [{ key }, '/api/v1/things?a=2'],
    ];
    const firsts = [];
    for (const [init, path] of requests) firsts.push(await (await post(gateway, init, path)).text());
    expect(new Set(firsts).size).toBe(requests.length);
    expect(gateway.received).toHaveLength(requests.length);
    for (const [index, [init, path]] of requests.entries()) {
      const again = await post(gateway, init, path);
      expect([again.headers.get('x-idempotency-replayed'), await again.text()]).toEqual([
        'true',
        firsts[index],
      ]);
    }
  });

  it('is the same operation for every spelling of the address', async () => {
    const gateway = await start(service());
    const key = randomUUID();
    await post(gateway, { key }, '/api/v1/things');
    const again = await post(gateway, { key }, '/api/things?api-version=1.0');
    expect(again.headers.get('x-idempotency-replayed')).toBe('true');
  });

  it('is finished and stored when its client disconnects', async () => {
    const { gate, open } = opened();
    const gateway = await start(service(undefined, gate));
    const key = randomUUID();
    const leaving = new AbortController();
    const first = post(gateway, { key, signal: leaving.signal }).catch(() => 'gone');
    await until(() => gateway.received.length === 1);
    leaving.abort();
    await first;
    open();
    let again = await post(gateway, { key });
    while (again.status === 409) again = await post(gateway, { key });
    expect([again.status, again.headers.get('x-idempotency-replayed')]).toEqual([201, 'true']);
    expect(gateway.received).toHaveLength(1);
  });

  it('leaves no marker behind when its body is too large or incomplete', async () => {
    const gateway = await start(service());
    const key = randomUUID();
    expect((await post(gateway, { key, body: `"${'x'.repeat(1024 * 1024)}"` })).status).toBe(413);
    const leaving = new AbortController();
    const stream = new ReadableStream({
      start: (controller) => {
        controller.enqueue(new TextEncoder().encode('{"na'));
        setImmediate(() => leaving.abort());
      },
    });
    await post(gateway, { key, body: stream, duplex: 'half', signal: leaving.signal } as Init).catch(
      () => undefined,
    );
    const good = await post(gateway, { key });
    expect([good.status, good.headers.get('x-idempotency-replayed')]).toEqual([201, null]);
  });

  it('leaves no marker behind when its limit refuses it', async () => {
    const things = service(() => ({ status: 204 }));
    const upstream = { things: await startUpstream(things.listener) };
    const limits = { default: { user: 1, tenant: 1_000, address: 1_000 } };
    const strict = await startGateway(upstream, { RATE_LIMITS: JSON.stringify(limits) });
    const generous = await startGateway(upstream);
    const as = { sub: randomUUID(), tenantId: undefined };
    // Without a body it is certain that the request is counted and its key claimed together.
    const deletion = { method: 'DELETE', as };
    const keyed = { ...deletion, headers: { 'idempotency-key': randomUUID() } };

    const responses = [
      await strict.fetch('/api/v1/things/x', deletion),
      await strict.fetch('/api/v1/things/x', keyed),
      await generous.fetch('/api/v1/things/x', keyed),
    ];

    expect(responses.map(({ status }) => status)).toEqual([204, 429, 204]);
    expect(things.received).toHaveLength(2);
  });

  it('streams a large response completely, but does not store it', async () => {
    const body = { text: 'x'.repeat(100_000) };
    const gateway = await start(
      service(() => ({ status: 200, body })),
      { IDEMPOTENCY_RESPONSE_BYTES_MAX: '50000' },
    );
    const key = randomUUID();
    for (const count of [1, 2]) {
      expect(await (await post(gateway, { key })).json()).toEqual(body);
      expect(gateway.received).toHaveLength(count);
    }
  });
});

describe('an idempotency key that is missing or not valid', () => {
  it('is refused with 422, and the request is not executed', async () => {
    const gateway = await start(service());
    for (const key of ['', 'x'.repeat(256), 'a b', 'a\tb', 'schlüssel']) {
      expect((await post(gateway, { key })).status).toBe(422);
    }
    expect((await post(gateway, { key: randomUUID().padEnd(255, 'x') })).status).toBe(201);
    expect(gateway.received).toHaveLength(1);
  });

  it('is refused with 422 where an endpoint requires one, before other checks', async () => {
    const gateway = await start(service(), { IDEMPOTENCY_REQUIRED_ROUTES: 'POST /things,PUT /things/:name' });
    const missing = await post(gateway);
    expect(missing.status).toBe(422);
    expect(await missing.json()).toMatchObject({ detail: expect.stringContaining('missing') });
    expect((await gateway.fetch('/api/v1/things/x', { method: 'PUT', body: '{}' })).status).toBe(422);
    const multipart = { headers: { 'content-type': 'multipart/form-data; boundary=x' } };
    expect(await (await post(gateway, multipart)).json()).toMatchObject({
      detail: expect.stringContaining('missing'),
    });
    expect((await gateway.fetch('/api/v1/things/x', { as: null, method: 'PUT' })).status).toBe(401);
    expect((await post(gateway, { key: randomUUID() })).status).toBe(201);
  });

  it('is refused with 422 for a multipart body, before the body is read', async () => {
    const gateway = await start(service());
    const form = new FormData();
    form.set('file', new Blob(['a,b']));
    for (const path of ['/api/v1/files', '/api/v1/things']) {
      const response = await gateway.fetch(path, {
        method: 'POST',
        body: form,
        headers: { 'idempotency-key': randomUUID() },
      });
      expect(response.status).toBe(422);
      expect(await response.json()).toMatchObject({ detail: expect.stringContaining('multipart') });
    }
    expect(gateway.received).toEqual([]);
  });

  it('is ignored for a multipart body where the installation says so', async () => {
    const gateway = await start(service(), { IDEMPOTENCY_MULTIPART: 'ignore' });
    const form = new FormData();
    form.set('file', new Blob(['a,b']));
    const headers = { 'idempotency-key': randomUUID() };
    for (const count of [1, 2]) {
      const response = await gateway.fetch('/api/v1/files', { method: 'POST', body: form, headers });
      expect([response.status, response.headers.get('x-idempotency-replayed')]).toEqual([201, null]);
      expect(gateway.received).toHaveLength(count);
    }
  });

  it('is ignored for requests that change nothing', async () => {
    const gateway = await start(service(() => ({ status: 200, body: [] })));
    const key = randomUUID();
    for (const count of [1, 2]) {
      await gateway.fetch('/api/v1/things', { headers: { 'idempotency-key': key } });
      expect(gateway.received).toHaveLength(count);
    }
  });

  it('is read from the configured header', async () => {
    const gateway = await start(service(), { IDEMPOTENCY_HEADER: 'X-Operation' });
    const headers = { 'x-operation': randomUUID() };
    await post(gateway, { headers });
    expect((await post(gateway, { headers })).headers.get('x-idempotency-replayed')).toBe('true');
  });
});

describe('the times of idempotency keys', () => {
  it('end an execution with 503 and Retry-After, and the marker stays as long as the operation may be running', async () => {
    const { gate, open } = opened();
    const things = service(undefined, gate);
    const patient = await start(things);
    const hasty = await start(things, { IDEMPOTENCY_TIMEOUT_MILLISECONDS: '100' });
    const redis = new Redis(infrastructure().redisUrl);
    onCloseAll(() => redis.disconnect());
    const key = randomUUID();
    const late = await post(hasty, { key });
    expect([late.status, late.headers.has('retry-after')]).toEqual([503, true]);
    expect((await post(patient, { key })).status).toBe(409);
    open();
    const space = { tenantId: TENANT_ID, userId: 'ada', method: 'POST', path: '/api/v1/things', key };
    expect(await redis.del(recordKeyOf(newRun(space, '')))).toBe(1);
    expect((await post(patient, { key })).status).toBe(201);
    expect(new Set(things.received.map(({ claims }) => claims.caller!.operationId)).size).toBe(1);
    expect((await post(patient, { key })).headers.get('x-idempotency-replayed')).toBe('true');
  });

  it('begin anew for who waited, unless another attempt has taken the key since', async () => {
    const redis = new Redis(infrastructure().redisUrl);
    const settings = { retentionSeconds: 60, markerMilliseconds: 60_000, bytesMax: 1_000_000 };
    const records = new IdempotencyRecords(redis, settings);
    const owner = { tenantId: randomUUID(), userId: 'ada' };
    const first = { operationId: randomUUID(), owner, run: 'first', fingerprint: 'a' };
    const second = { ...first, run: 'second' };
    const expire = () => redis.del(`plinth:idempotency:${first.operationId}`);

    await records.claim(first);
    const held = [await records.hold(first)];
    await expire();
    held.push(await records.hold(first));
    await expire();
    await records.claim(second);
    held.push(await records.hold(first));
    await records.store(second, { status: 204, headers: [], body: undefined });
    held.push(await records.hold(first));
    redis.disconnect();

    expect(held).toEqual([true, true, false, false]);
  });

  it('begin anew for a run that did not learn that it has its key', async () => {
    const redis = new Redis(infrastructure().redisUrl);
    const settings = { retentionSeconds: 60, markerMilliseconds: 60_000, bytesMax: 1_000_000 };
    const records = new IdempotencyRecords(redis, settings);
    const owner = { tenantId: randomUUID(), userId: 'ada' };
    const run = { operationId: randomUUID(), owner, run: 'first', fingerprint: 'a' };
    await records.claim(run);
    await redis.pexpire(`plinth:idempotency:${run.operationId}`, 10_000);

    expect(await records.claim(run)).toEqual({ state: 'claimed' });

    expect(await redis.pttl(`plinth:idempotency:${run.operationId}`)).toBeGreaterThan(10_000);
    await records.store(run, { status: 204, headers: [], body: undefined });
    expect(await records.claim(run)).toMatchObject({ state: 'replayed' });
    redis.disconnect();
  });

  it('delete a stored response after its retention', async () => {
    const gateway = await start(service(), { IDEMPOTENCY_RETENTION_SECONDS: '1' });
    const key = randomUUID();
    await post(gateway, { key });
    while ((await post(gateway, { key })).headers.has('x-idempotency-replayed'));
    expect(gateway.received).toHaveLength(2);
  });

  it('store responses for a day by default', async () => {
    const gateway = await start(service());
    const redis = new Redis(infrastructure().redisUrl);
    const day = 86_400;
    const [before] = await redis.time();
    await post(gateway, { key: randomUUID() });
    const operationId = gateway.received[0]!.claims.caller!.operationId!;
    const seconds = await redis.ttl(recordKeyOf({ operationId }));
    const [after] = await redis.time();
    redis.disconnect();
    expect(seconds).toBeLessThanOrEqual(day);
    expect(seconds).toBeGreaterThanOrEqual(day - 1 - (Number(after) - Number(before)));
  });
});

describe('idempotency keys while Redis is unavailable', () => {
  /** A Redis that accepts connections and never responds. */
  const silentRedis = async (): Promise<{ url: string; server: Server }> => {
    const server = createTcpServer(() => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
  };

  it('are refused with 503 without executing the request; requests without a key are served', async () => {
    const gateway = await start(service(), { REDIS_URL: 'redis://127.0.0.1:1' });
    const refused = await post(gateway, { key: randomUUID() });
    expect([refused.status, refused.headers.has('retry-after')]).toEqual([503, true]);
    expect(gateway.received).toEqual([]);
    expect((await post(gateway)).status).toBe(201);
    expect((await gateway.fetch('/api/v1/things')).status).toBe(201);
  });

  it('are refused in the same way when Redis does not respond', async () => {
    const { url, server } = await silentRedis();
    const gateway = await start(service(), { REDIS_URL: url });
    expect((await post(gateway, { key: randomUUID() })).status).toBe(503);
    expect((await post(gateway)).status).toBe(201);
    expect(gateway.received).toHaveLength(1);
    server.close();
  });
});

describe('the stored responses', () => {
  it('of one tenant leave room for those of others; what has no room is made again', async () => {
    const things = service(() => ({ status: 201, body: { id: randomUUID(), filler: 'x'.repeat(20_000) } }));
    const url = `${infrastructure().redisUrl}/9`;
    const redis = new Redis(url);
    onCloseAll(() => redis.flushdb().finally(() => redis.disconnect()));
    await redis.flushdb();
    const environment = { IDEMPOTENCY_REDIS_URL: url, IDEMPOTENCY_STORED_BYTES_MAX: '200000' };
    const gateway = await start(things, environment);
    const isReplayed = async (as: Record<string, unknown>, key: string): Promise<boolean> => {
      expect((await post(gateway, { key, as })).status).toBe(201);
      return (await post(gateway, { key, as })).headers.has('x-idempotency-replayed');
    };
    const attacks = await Promise.all(
      Array.from({ length: 20 }, (_, number) => isReplayed({}, `ada-${number}`)),
    );
    expect(attacks.filter(Boolean)).toHaveLength(3);
    expect(await isReplayed({ sub: 'grace' }, 'grace')).toBe(true);
    expect(await isReplayed({ tenantId: OTHER_TENANT_ID, sub: 'bob' }, 'bob')).toBe(true);
    const metrics = await gateway.gateway.metrics.metrics();
    expect(metrics).toMatch(/plinth_gateway_idempotency_unstored_total\{.*scope="user".*\} [1-9]/);
  });
});
