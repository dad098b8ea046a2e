import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Caller } from '@plinth/kernel/caller';
import { systemClock } from '@plinth/kernel/clock';
import { Upstream } from './upstream';

const busy = { tenantId: 'busy', userId: 'ada' };
const other = { tenantId: 'other', userId: 'bob' };

const settings = {
  concurrencyMax: 100,
  streamsMax: 100,
  turns: 1,
  timeoutMilliseconds: 30_000,
  slowTimeoutMilliseconds: 300_000,
  uploadRateMin: { bytes: 1_000, milliseconds: 60_000 },
  breakerFailuresMax: 10,
  breakerOpenMilliseconds: 1_000,
};

it.each([
  ['calls', 100, {}],
  ['calls', 1_000, { 'x-plinth-busy': '1' }],
  ['uploads', 250, {}],
  ['uploads', 2_500, { 'x-plinth-busy': '1' }],
] as const)('%s keep a turn for %s ms where responses say %j', async (kind, milliseconds, headers) => {
  const upstream = new Upstream('things', 'http://things.test', settings, { now: () => new Date() });
  jest.useFakeTimers();
  for (const owner of [busy, other]) (await upstream.enterInTurn(kind, owner))();
  const responding = setInterval(() => upstream.responded(headers), 50);
  await upstream.enterInTurn(kind, busy);
  const waits = upstream.enterInTurn(kind, busy);
  await jest.advanceTimersByTimeAsync(milliseconds - 1);
  expect(upstream.turns[kind].places.waitingCount).toBe(1);
  await jest.advanceTimersByTimeAsync(1);
  (await waits)();
  expect(upstream.turns[kind].places.waitingCount).toBe(0);
  clearInterval(responding);
  jest.useRealTimers();
  await upstream.close();
});

it('tells a service that takes too long, and may still do what it was asked for, from one that is away', async () => {
  const server = createServer(() => undefined).unref();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const upstream = new Upstream('things', `http://127.0.0.1:${port}`, settings, systemClock);
  const request = { method: 'POST', path: '/dead-letters/replay', caller: {} as Caller } as const;

  await expect(upstream.ask(request, ['k'.repeat(32)], 50)).rejects.toMatchObject({ slug: 'area-timed-out' });
  await new Promise((resolve) => {
    server.close(resolve).closeAllConnections();
  });
  await expect(upstream.ask(request, ['k'.repeat(32)])).rejects.toMatchObject({ slug: 'area-unavailable' });
  await upstream.close();
});
