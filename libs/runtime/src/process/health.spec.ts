import { Agent, get } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { Problem } from '@plinth/kernel/problem';
import { Gauge } from 'prom-client';
import { createMetrics, Health, serveAdmin } from './health';

describe('the admin port', () => {
  it('closes although a client repeats requests on one connection', async () => {
    const asked = Promise.withResolvers<void>();
    // The first check is that of the start.
    let checks = 0;
    const slow = () => new Promise<void>(() => ++checks === 2 && asked.resolve());
    const health = new Health({ slow });
    const admin = await serveAdmin({ HTTP_HOST: '127.0.0.1', ADMIN_PORT: 0 }, health, createMetrics('test'));
    const agent = new Agent({ keepAlive: true });
    const cutOff = new Promise((resolve) =>
      get({ agent, port: admin.port, path: '/readyz' }).once('error', resolve),
    );
    await asked.promise;

    await admin.close();

    await expect(cutOff).resolves.toMatchObject({ code: 'ECONNRESET' });
    agent.destroy();
  });

  const startAdmin = (options?: { headersMilliseconds: number }) =>
    serveAdmin({ HTTP_HOST: '127.0.0.1', ADMIN_PORT: 0 }, new Health({}), createMetrics('test'), options);
  const send = (port: number, bytes: string) => {
    const socket = connect(port, '127.0.0.1');
    socket.write(`GET /healthz HTTP/1.1\r\nHost: a\r\n${bytes}`);
    return text(socket);
  };

  it('ends a connection whose headers do not arrive in time', async () => {
    const admin = await startAdmin({ headersMilliseconds: 50 });

    expect(await send(admin.port, 'X-Slow: ')).toMatch(/^HTTP\/1\.1 408 /);

    await admin.close();
  });

  it('refuses headers of more bytes than a probe has', async () => {
    const admin = await startAdmin();

    expect(await send(admin.port, `X-Long: ${'x'.repeat(9_000)}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 431 /);
    expect(await send(admin.port, 'Connection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);

    await admin.close();
  });

  it('says which metric cannot be read, and goes on', async () => {
    const metrics = createMetrics('test');
    const collect = () => Promise.reject(new Error('The database is away.'));
    new Gauge({ name: 'waiting', help: 'What waits.', registers: [metrics], collect });
    const admin = await serveAdmin({ HTTP_HOST: '127.0.0.1', ADMIN_PORT: 0 }, new Health({}), metrics);
    const ask = (path: string) => fetch(`http://127.0.0.1:${admin.port}${path}`);

    expect((await ask('/metrics')).status).toBe(500);
    expect((await ask('/healthz')).status).toBe(200);

    await admin.close();
  });
});

describe('the metrics of a process', () => {
  it('show how late its event loop was', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] });
    const metrics = createMetrics('test');
    await jest.advanceTimersByTimeAsync(60_000);
    const shown = await metrics.metrics();
    jest.useRealTimers();

    for (const what of ['max', 'mean', 'p50', 'p90', 'p99'])
      expect(shown).toMatch(new RegExp(`^nodejs_eventloop_lag_${what}_seconds\\{process="test"\\} `, 'm'));
    expect(shown).toContain('nodejs_eventloop_lag_looks{process="test"} 120\n');
  });
});

describe('a process', () => {
  it('is ready without the parts that do not decide, and shows them with what is wrong', async () => {
    const cause = new Error('The bucket plinth at http://s3.example: there is no such bucket');
    const check = async () => {
      throw new Problem('upstream', 'The blob store does not respond; try again.', { cause });
    };
    const health = new Health({ postgres: async () => undefined }, { informative: { blobs: check } });

    expect(await health.readiness()).toEqual({
      ready: true,
      parts: { postgres: 'up', blobs: 'down' },
      causes: { blobs: cause.message },
    });
    expect((await new Health({ blobs: check }).readiness()).ready).toBe(false);
  });

  it('logs once for each change of a part', async () => {
    let answer: string | undefined;
    const lines: object[] = [];
    const note = (fields: object, message: string) => void lines.push({ ...fields, message });
    const check = async () => {
      if (answer !== undefined) throw new Error(answer);
    };
    const health = new Health({ store: check }, { log: { warn: note, info: note } as never });

    for (answer of [undefined, 'refused', 'refused', 'unknown host', undefined, undefined])
      await health.readiness();

    expect(lines).toEqual([
      { part: 'store', cause: 'refused', message: 'part is down' },
      { part: 'store', cause: 'unknown host', message: 'part is down' },
      { part: 'store', message: 'part is up again' },
    ]);
  });
});
