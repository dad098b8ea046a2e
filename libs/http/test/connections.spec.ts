import { authenticated, endpoint } from '@plinth/contracts/endpoint';
import { createService } from '@plinth/http/api';
import type { FairPool } from '@plinth/runtime/postgres/fair-pool';
import { createPool, inTenantConnection } from '@plinth/runtime/postgres/postgres';
import { Health } from '@plinth/runtime/process/health';
import { closeAll, type Close } from '@plinth/runtime/process/lifecycle';
import { silentLog } from '@plinth/runtime/process/log';
import { eventually } from '@plinth/testing/eventually';
import { aCaller, serveForTest, TEST_KEYS, type TestServer } from '@plinth/testing/http';
import { createTestDatabase } from '@plinth/testing/test-database';
import { serviceContext } from './service-context';

const endpoints = {
  read: endpoint({
    method: 'POST',
    path: '/read',
    summary: 'Read something',
    access: authenticated,
    success: { status: 204 },
  }),
};

const opened: Close[] = [];
afterEach(() => closeAll(opened.splice(0), silentLog()));

/** A service whose tenants share three connections; one alone gets two. */
async function start(patienceMilliseconds: number): Promise<{ server: TestServer; pool: FairPool }> {
  const database = await createTestDatabase('settings');
  opened.push(database.drop);
  const connections = { tenantConnections: 3, platformConnections: 1 };
  const pool = createPool(database.url, silentLog(), { ...connections, patienceMilliseconds });
  opened.push(() => pool.end());
  const health = new Health({ postgres: () => pool.query('SELECT 1') });
  const context = { ...serviceContext(TEST_KEYS, health), pool };
  const app = createService('readings', endpoints, context, (api) => {
    api.on(endpoints.read, async ({ tenantId }) => {
      await inTenantConnection(pool, tenantId, (connection) => connection.query('SELECT 1'));
    });
  });
  const server = await serveForTest(app);
  opened.push(server.close);
  return { server, pool };
}

/** Has a tenant hold as many connections as it gets, until the result is called. */
async function holdConnections(pool: FairPool, tenantId: string): Promise<() => Promise<unknown>> {
  let end = (): void => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const transactions = [1, 2].map(() => inTenantConnection(pool, tenantId, () => ended));
  await eventually(() => pool.tenantPlaces.runningCount === 2);
  return () => {
    end();
    return Promise.all(transactions);
  };
}

describe('while a tenant holds as many connections to the database as it gets', () => {
  it('its requests wait and are then refused with 503 and Retry-After, and those of others are served', async () => {
    const { server, pool } = await start(50);
    const ada = aCaller();
    const end = await holdConnections(pool, ada.tenantId);

    const [refused, served, ready] = await Promise.all([
      server.as(ada).post('/read'),
      server.as(aCaller()).post('/read'),
      fetch(`${server.url}/readyz`),
    ]);

    expect([refused.status, served.status, ready.status]).toEqual([503, 204, 200]);
    expect(refused.headers.get('content-type')).toContain('application/problem+json');
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(refused.body.detail).toContain('wait for the database');
    await end();
    expect((await server.as(ada).post('/read')).status).toBe(204);
  });

  it('a request whose client disconnects waits no longer', async () => {
    const { server, pool } = await start(60_000);
    const ada = aCaller();
    const end = await holdConnections(pool, ada.tenantId);
    const { url, headers } = server.as(ada).address('POST', '/read');
    const client = new AbortController();
    const request = fetch(url, { method: 'POST', headers, signal: client.signal });
    await eventually(() => pool.tenantPlaces.waitingCount === 1);

    client.abort();

    await expect(request).rejects.toThrow('abort');
    await eventually(() => pool.tenantPlaces.waitingCount === 0);
    await end();
  });
});
