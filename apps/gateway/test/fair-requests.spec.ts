import type { ServerResponse } from 'node:http';
import { allBut } from '@plinth/testing/all-but';
import {
  closeAll,
  OTHER_TENANT_ID,
  receive,
  sendJson,
  startGateway,
  startUpstream,
  TENANT_ID,
  type StartedGateway,
} from './start-gateway';

// No turn ends by itself.
beforeEach(() => void jest.useFakeTimers({ doNotFake: allBut('Date', 'setTimeout', 'clearTimeout') }));
afterEach(() => void jest.useRealTimers());
afterEach(closeAll);

const REQUESTS = 60;
/** Longer than a turn. */
const TURN_MILLISECONDS = 250;

/** A service that responds to nothing until it is told to. */
async function startHoldingService() {
  const tenants: (string | undefined)[] = [];
  let held: ServerResponse[] | undefined = [];
  const url = await startUpstream((request, response) => {
    receive(request).then(
      ({ claims }) => {
        tenants.push(claims.caller?.tenantId);
        if (held) held.push(response);
        else sendJson(response, 200, {});
      },
      () => sendJson(response, 401, {}),
    );
  });
  const release = (): void => {
    const responses = held ?? [];
    held = undefined;
    for (const response of responses) sendJson(response, 200, {});
  };
  return { url, tenants, release };
}

const until = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
};

/** How many requests wait for their turn, of whichever kind. */
const waitingIn = async ({ metrics }: StartedGateway['gateway']): Promise<number> =>
  [
    ...(await metrics.metrics()).matchAll(/^plinth_places_waiting\{places="[^"]*-things".*\} (\d+)$/gm),
  ].reduce((sum, [, count]) => sum + Number(count), 0);

const other = { tenantId: OTHER_TENANT_ID };
const large = JSON.stringify({ name: 'x'.repeat(100_000) });

const form = { method: 'POST', body: 'x', headers: { 'content-type': 'multipart/form-data; boundary=x' } };

describe.each([
  ['a short request', '/api/v1/things', undefined],
  [
    'a large request',
    '/api/v1/things',
    { method: 'POST', body: large, headers: { 'content-type': 'application/json' } },
  ],
  ['an upload', '/api/v1/files', form],
])('%s of one tenant', (_what, path, init) => {
  it('reaches the service before those that another tenant has sent before', async () => {
    const service = await startHoldingService();
    const { fetch, gateway } = await startGateway({ things: service.url }, { UPSTREAM_TURNS: '4' });
    const send = (as: Record<string, unknown> = {}) => fetch(path, { ...init, as });
    const areThere = (count: number) =>
      until(async () => service.tenants.length + (await waitingIn(gateway)) === count);
    const sent = [send(), send(other)];
    await until(() => service.tenants.length === 2);
    sent.push(...Array.from({ length: REQUESTS }, () => send()));
    await areThere(REQUESTS + 2);
    sent.push(send(other));
    await areThere(REQUESTS + 3);

    await until(() => {
      jest.advanceTimersByTime(TURN_MILLISECONDS);
      return service.tenants.filter((tenantId) => tenantId === OTHER_TENANT_ID).length === 2;
    });
    expect(service.tenants.lastIndexOf(OTHER_TENANT_ID)).toBeLessThan(REQUESTS / 2);

    service.release();
    const responses = await Promise.all(sent);
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([200]));
    expect(service.tenants.filter((tenantId) => tenantId === TENANT_ID)).toHaveLength(REQUESTS + 1);
  });

  it('is forgotten when its client disconnects while it waits', async () => {
    const service = await startHoldingService();
    const { fetch, gateway } = await startGateway({ things: service.url }, { UPSTREAM_TURNS: '1' });
    const clients = new AbortController();
    const send = (as: Record<string, unknown> = {}) =>
      fetch(path, { ...init, as, signal: clients.signal }).catch(() => undefined);
    const sent = [send(), send(other)];
    await until(() => service.tenants.length === 2);
    sent.push(...Array.from({ length: REQUESTS }, () => send()));
    await until(async () => (await waitingIn(gateway)) > 0);
    clients.abort();
    await Promise.all(sent);
    await until(async () => (await waitingIn(gateway)) === 0);
    await until(async () => !/requests_in_flight\{[^}]*\} [1-9]/.test(await gateway.metrics.metrics()));
    expect(service.tenants.length).toBeLessThan(REQUESTS);
    service.release();
    expect((await fetch(path, { ...init })).status).toBe(200);
  });
});

describe('an upload that waits for its turn', () => {
  it('is signed when that has come, and not while its signature runs out', async () => {
    const service = await startHoldingService();
    const { fetch, gateway, token } = await startGateway({ things: service.url }, { UPSTREAM_TURNS: '1' });
    await Promise.all([token(), token(other)]);
    const send = (as: Record<string, unknown> = {}) => fetch('/api/v1/files', { ...form, as });
    const sent = [send(), send(other)];
    await until(() => service.tenants.length === 2);
    sent.push(send());
    await until(async () => (await waitingIn(gateway)) === 1);
    jest.setSystemTime(Date.now() + 2 * 60_000);
    service.release();
    expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([200, 200, 200]);
  });
});
