import { randomUUID } from 'node:crypto';
import { Agent, request as httpRequest } from 'node:http';
import { Agent as Connections, request } from 'undici';
import { post, postUntilDone, startGuardedService } from './guarded-service';
import { closeAll, onCloseAll, sendJson, startGateway, startUpstream } from './start-gateway';
import { startGatewayProcess, type GatewayProcess } from './gateway-process';

afterEach(closeAll);

const KEYS = Number(process.env['PLINTH_TEST_KEYS'] ?? 40);
const SCALED = { IDEMPOTENCY_TIMEOUT_MILLISECONDS: '800', IDEMPOTENCY_MARKER_MILLISECONDS: '1200' };

describe('several gateways with one Redis', () => {
  it(
    'run one effect for each key and return one response for concurrent requests',
    async () => {
      const CLIENTS = 100;
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
    120_000 + 1_000 * KEYS,
  );

  it.each(['before-marker', 'after-marker', 'after-response', 'before-store', 'after-store'])(
    'run one effect for each key when one of them is killed: %s',
    async (checkpoint) => {
      const service = await startGuardedService();
      const [survivor, victim] = await Promise.all([
        startGatewayProcess({ things: service.url }, SCALED),
        startGatewayProcess({ things: service.url }, { ...SCALED, CRASH_AT: checkpoint }),
      ]);
      const key = randomUUID();
      await expect(post(victim, key)).rejects.toThrow();
      const first = await postUntilDone(survivor, key);
      expect(await postUntilDone(survivor, key)).toEqual(first);
      expect(service.effects()).toBe(1);
    },
  );

  it('run one effect for each key when the service takes longer than the timeout and the marker', async () => {
    let waiting: (() => void)[] = [];
    const service = await startGuardedService(() => new Promise((resolve) => void waiting.push(resolve)));
    const gateways = await Promise.all(
      [1, 2].map(() =>
        startGatewayProcess(
          { things: service.url },
          { IDEMPOTENCY_TIMEOUT_MILLISECONDS: '100', IDEMPOTENCY_MARKER_MILLISECONDS: '200' },
        ),
      ),
    );
    const key = randomUUID();
    let tries = 0;
    while (waiting.length < 3) expect((await post(gateways[tries++ % 2]!, key)).status).not.toBe(201);
    const released = waiting;
    waiting = [];
    for (const go of released) go();
    const ticking = setInterval(() => waiting.splice(0).forEach((go) => go()), 5);
    await postUntilDone(gateways[0]!, key);
    clearInterval(ticking);
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
    // Longer than it takes on a busy machine to come back after it was not ready.
    const gateway = await startGatewayProcess({ things: upstream }, { DRAIN_SECONDS: '2' });
    const inFlight = gateway.fetch('/api/v1/things');
    while (respond.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const stopped = gateway.stop();
    while ((await fetch(`http://127.0.0.1:${gateway.adminPort}/readyz`)).status !== 503);
    gateway.process.kill('SIGTERM');
    const late = await fetch(`${gateway.url}/healthz`);
    expect([late.status, late.headers.get('connection')]).toEqual([200, 'close']);
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

  it('loses none of 200 requests a second while two gateways are replaced one after the other', async () => {
    const upstream = await startUpstream((request, response) => {
      request.resume();
      sendJson(response, 200, []);
    });
    const start = () =>
      // Longer than it takes on a busy machine to see that one is not ready any more, and than clients keep connections.
      startGatewayProcess({ things: upstream }, { DRAIN_SECONDS: '3', KEEP_ALIVE_MILLISECONDS: '5000' });
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
      serving = [...serving.filter((gateway) => gateway !== old), replacement];
      expect(await stopped).toBe(0);
    }
    clearInterval(load);
    const statuses = await Promise.all(outcomes);
    agent.destroy();
    expect(statuses.length).toBeGreaterThan(100);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
  });
});
