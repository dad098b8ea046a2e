import { randomUUID } from 'node:crypto';
import { Agent, request as httpRequest } from 'node:http';
import { infrastructure } from '@plinth/testing/infrastructure';
import { eventually } from '@plinth/testing/eventually';
import { Redis } from 'ioredis';
import { Agent as Connections, request } from 'undici';
import { newRun, recordKeyOf } from '../src/idempotency/records';
import { post, postUntilDone, startGuardedService } from './guarded-service';
import { closeAll, onCloseAll, sendJson, startGateway, startUpstream, TENANT_ID } from './start-gateway';
import { startGatewayProcess, type GatewayProcess } from './gateway-process';

afterEach(closeAll);

const KEYS = Number(process.env['PLINTH_TEST_KEYS'] ?? 10);

/** Lets the time of the marker of a killed gateway pass, which ends by itself. A response that has replaced it stays. */
async function expireMarker(redis: Redis, key: string): Promise<void> {
  const space = { tenantId: TENANT_ID, userId: 'ada', method: 'POST', path: '/api/v1/things', key };
  const record = recordKeyOf(newRun(space, ''));
  const [remaining, isStored] = [await redis.pttl(record), await redis.hexists(record, 'status')];
  expect(remaining).not.toBe(-1);
  if (!isStored) await redis.del(record);
}

describe('several gateways with one Redis', () => {
  it(
    'run one effect for each key and return one response for concurrent requests',
    async () => {
      const CLIENTS = 60;
      const service = await startGuardedService();
      const gateways = await Promise.all([1, 2, 3].map(() => startGatewayProcess({ things: service.url })));
      const authorizations = await Promise.all(gateways.map(async ({ token }) => `Bearer ${await token()}`));
      const connections = new Connections();
      onCloseAll(() => connections.close());
      /** With less than `fetch` does for each of so many requests. */
      const send = async (url: string, headers: Record<string, string>) => {
        const { statusCode, body } = await request(url, {
          method: 'POST',
          body: '{"name":"a"}',
          headers,
          dispatcher: connections,
        });
        return { status: statusCode, text: await body.text() };
      };
      for (let count = 0; count < KEYS; count++) {
        const key = randomUUID();
        const responses = await Promise.all(
          Array.from({ length: CLIENTS }, (_, index) => {
            const at = index % gateways.length;
            return send(`${gateways[at]!.url}/api/v1/things`, {
              authorization: authorizations[at]!,
              'content-type': 'application/json',
              'idempotency-key': key,
            });
          }),
        );
        const made = responses.filter(({ status }) => status === 201);
        expect(made.length).toBeGreaterThan(0);
        expect(new Set(made.map(({ text }) => text)).size).toBe(1);
        expect(responses.every(({ status }) => status === 201 || status === 409)).toBe(true);
      }
      expect(service.effects()).toBe(KEYS);
    },
    300_000 + 1_000 * KEYS,
  );

  it('run one effect for each key when one of them is killed, at any step', async () => {
    const service = await startGuardedService();
    const redis = new Redis(infrastructure().redisUrl);
    onCloseAll(() => redis.disconnect());
    const survivor = await startGatewayProcess({ things: service.url });
    const checkpoints = ['before-marker', 'after-marker', 'after-response', 'before-store', 'after-store'];
    for (const [index, checkpoint] of checkpoints.entries()) {
      const victim = await startGatewayProcess({ things: service.url }, { CRASH_AT: checkpoint });
      const key = randomUUID();
      await expect(post(victim, key)).rejects.toThrow();
      await expireMarker(redis, key);
      const first = await postUntilDone(survivor, key);
      expect(await postUntilDone(survivor, key)).toEqual(first);
      expect([checkpoint, service.effects()]).toEqual([checkpoint, index + 1]);
    }
  });

  it('run one effect for each key when the service takes longer than the timeout and the marker', async () => {
    const waiting: (() => void)[] = [];
    let isHeld = true;
    const service = await startGuardedService(async () => {
      if (isHeld) await new Promise<void>((resolve) => waiting.push(resolve));
    });
    const hasty = { IDEMPOTENCY_TIMEOUT_MILLISECONDS: '100', IDEMPOTENCY_MARKER_MILLISECONDS: '200' };
    const [patient, ...gateways] = await Promise.all(
      [{}, hasty, hasty].map((times) => startGatewayProcess({ things: service.url }, times)),
    );
    const key = randomUUID();
    let tries = 0;
    while (waiting.length < 3) expect((await post(gateways[tries++ % 2]!, key)).status).not.toBe(201);
    isHeld = false;
    for (const go of waiting) go();
    await postUntilDone(patient!, key);
    expect(service.effects()).toBe(1);
  });

  it('accept the same tokens, also after a restart', async () => {
    const service = await startGuardedService();
    const unseeded = { DEV_ISSUER_KEY: '' };
    const first = await startGatewayProcess({ things: service.url }, unseeded);
    const second = await startGatewayProcess({ things: service.url }, unseeded);
    const authorization = `Bearer ${await first.token()}`;
    await first.stop();
    expect(
      (await second.fetch('/api/v1/nowhere', { headers: { authorization } })).headers.get('ratelimit-policy'),
    ).toContain('user');
  });
});

describe('a gateway that gets SIGTERM', () => {
  /** One request over a keep-alive connection; returns the status or the error. */
  const send = (agent: Agent, port: number, authorization: string): Promise<number | string> =>
    new Promise((resolve) => {
      const request = httpRequest(
        { agent, port, host: '127.0.0.1', path: '/api/v1/things', headers: { authorization } },
        (response) => {
          response.resume().once('end', () => resolve(response.statusCode!));
          response.once('error', (error) => resolve(error.message));
        },
      );
      request.once('error', (error) => resolve(error.message)).end();
    });

  it('finishes open requests, is not ready, closes connections after their response, and exits with 0, also when it is told again', async () => {
    const respond: (() => void)[] = [];
    const upstream = await startUpstream((request, response) => {
      request.resume();
      respond.push(() => sendJson(response, 200, []));
    });
    const gateway = await startGatewayProcess({ things: upstream }, { DRAIN_UNTIL_TOLD: 'true' });
    const inFlight = gateway.fetch('/api/v1/things');
    while (respond.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const stopped = gateway.stop();
    while ((await fetch(`http://127.0.0.1:${gateway.adminPort}/readyz`)).status !== 503);
    gateway.process.kill('SIGTERM');
    const late = await fetch(`${gateway.url}/healthz`);
    expect([late.status, late.headers.get('connection')]).toEqual([200, 'close']);
    gateway.process.send('drained');
    respond.forEach((sendResponse) => sendResponse());
    expect((await inFlight).status).toBe(200);
    expect(await stopped).toBe(0);
  });

  it('has told clients to let go of a connection that they do not use, sooner than it does', async () => {
    const { fetch } = await startGateway({}, { DRAIN_SECONDS: '5' });
    expect((await fetch('/healthz', { as: null })).headers.get('keep-alive')).toBe('timeout=4');
  });

  it('does not wait for event streams, which never end by themselves', async () => {
    const upstream = await startUpstream((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: 1\n\n');
    });
    const gateway = await startGatewayProcess({ things: upstream });
    const events = await gateway.fetch('/api/v1/things/all/events');
    const read = events.text();
    read.catch(() => undefined);
    expect(await gateway.stop()).toBe(0);
    await expect(read).rejects.toThrow();
  });

  it('loses no request while two gateways are replaced one after the other under load', async () => {
    const upstream = await startUpstream((request, response) => {
      request.resume();
      sendJson(response, 200, []);
    });
    const start = () =>
      startGatewayProcess({ things: upstream }, { DRAIN_SECONDS: '3', DRAIN_UNTIL_TOLD: 'true' });
    let serving: GatewayProcess[] = await Promise.all([start(), start()]);
    const authorization = `Bearer ${await serving[0]!.token()}`;
    const agent = new Agent({ keepAlive: true });
    const outcomes: Promise<number | string>[] = [];
    const load = setInterval(() => {
      const gateway = serving[outcomes.length % serving.length]!;
      outcomes.push(send(agent, gateway.port, authorization));
    }, 5);

    for (const old of [...serving]) {
      const replacement = await start();
      const stopped = old.stop();
      while ((await fetch(`http://127.0.0.1:${old.adminPort}/readyz`)).status !== 503);
      // Clients see it a while later.
      const before = outcomes.length;
      await eventually(() => outcomes.length >= before + 50);
      serving = [...serving.filter((gateway) => gateway !== old), replacement];
      await Promise.all(outcomes);
      old.process.send('drained');
      expect(await stopped).toBe(0);
    }
    clearInterval(load);
    const statuses = await Promise.all(outcomes);
    agent.destroy();
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
  });
});
