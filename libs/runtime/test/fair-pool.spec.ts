import { newId } from '@plinth/kernel/uuid';
import type { FairPool } from '@plinth/runtime/postgres/fair-pool';
import {
  createPool,
  inTenantConnection,
  problemOfDatabase,
  readInPlatform,
  type PoolOptions,
} from '@plinth/runtime/postgres/postgres';
import { backgroundTask } from '@plinth/runtime/process/background-task';
import { forMany, forRequest } from '@plinth/runtime/process/current-work';
import { closeAll, type Close } from '@plinth/runtime/process/lifecycle';
import { silentLog } from '@plinth/runtime/process/log';
import { plainDatabase } from '@plinth/testing/plain-database';
import { createTestDatabase, type TestDatabase } from '@plinth/testing/test-database';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase('settings');
});
afterAll(() => database.drop());

const opened: Close[] = [];
afterEach(() => closeAll(opened.splice(0), silentLog()));

/** A pool whose tenants share three connections; one alone gets two. */
function start(options: PoolOptions = {}): FairPool {
  const pool = createPool(database.url, silentLog(), {
    tenantConnections: 3,
    platformConnections: 1,
    patienceMilliseconds: 60_000,
    ...options,
  });
  opened.push(() => pool.end());
  return pool;
}

/** A tenant whose transactions last until their end is called. */
function tenant(pool: FairPool) {
  const tenantId = newId();
  const ends: (() => void)[] = [];
  const begun: string[] = [];
  const begin = (name: string, order: string[] = begun) =>
    inTenantConnection(pool, tenantId, async (connection) => {
      await connection.query('SELECT 1');
      order.push(name);
      await new Promise<void>((resolve) => ends.push(resolve));
    });
  /** Begins as many as get a connection, and returns their end. */
  const hold = async (count: number) => {
    const transactions = Array.from({ length: count }, () => begin('held'));
    while (begun.length < count) await new Promise(setImmediate);
    return async () => {
      ends.splice(0).forEach((end) => end());
      await Promise.all(transactions);
    };
  };
  const read = () =>
    inTenantConnection(pool, tenantId, async (connection) => {
      const { rows } = await connection.query(`SELECT current_setting('plinth.tenant_id') AS id`);
      return rows[0].id === tenantId;
    });
  return { tenantId, begin, ends, hold, read };
}

describe('a pool that tenants share', () => {
  it('has a connection for the next tenant, however long the transactions of the first one take', async () => {
    const pool = start();
    const [acme, globex] = [tenant(pool), tenant(pool)];
    const end = await acme.hold(2);
    const third = acme.read();

    expect(await globex.read()).toBe(true);
    expect(await globex.read()).toBe(true);
    expect(pool.tenantPlaces.waitingCount).toBe(1);

    await end();
    expect(await third).toBe(true);
  });

  it('gives the next one to the tenant that has the fewest, however many of another wait before it', async () => {
    const pool = start();
    const [acme, globex] = [tenant(pool), tenant(pool)];
    const [endOfAcme, endOfGlobex] = [await acme.hold(2), await globex.hold(1)];
    const order: string[] = [];
    const waiting = [
      acme.begin('acme 1', order),
      acme.begin('acme 2', order),
      globex.begin('globex 1', order),
    ];
    expect(pool.tenantPlaces.waitingCount).toBe(3);

    await endOfGlobex();
    while (order.length < 1) await new Promise(setImmediate);
    expect(order).toEqual(['globex 1']);

    await endOfAcme();
    while (order.length < 3) await new Promise(setImmediate);
    [...acme.ends, ...globex.ends].forEach((end) => end());
    await Promise.all(waiting);
  });

  it('refuses who waits too long, as a database that is busy, and serves the next', async () => {
    const pool = start({ patienceMilliseconds: 20 });
    const acme = tenant(pool);
    const end = await acme.hold(2);

    const refusal = await acme.read().catch((error: unknown) => error);

    expect(refusal).toMatchObject({ kind: 'overloaded', options: { retryAfterSeconds: 5 } });
    // So that an event of the inbox does not count it as a failure of its own.
    expect(problemOfDatabase(refusal)).toMatchObject({ kind: 'overloaded' });
    expect(Object.fromEntries(pool.tenantPlaces.refusedCounts)).toEqual({ tenant: 1 });
    await end();
    expect(await acme.read()).toBe(true);
  });

  it('forgets a request that was given up while it waited, but not the work that others wait for too', async () => {
    const pool = start();
    const acme = tenant(pool);
    const end = await acme.hold(2);
    const request = new AbortController();
    const [own, shared] = forRequest(request.signal, () => [acme.read(), forMany(() => acme.read())]);
    const refused = expect(own).rejects.toMatchObject({ kind: 'timed-out' });

    request.abort();
    await refused;

    expect(pool.tenantPlaces.waitingCount).toBe(1);
    await end();
    expect(await shared).toBe(true);
  });

  it('has its places back from connections that could not be opened, and from those that broke', async () => {
    const nowhere = createPool('postgres://nobody@127.0.0.1:1/none', silentLog(), { tenantConnections: 3 });
    opened.push(() => nowhere.end());
    for (let attempt = 0; attempt < 5; attempt++) {
      const failure = await tenant(nowhere)
        .read()
        .catch((error: unknown) => error);
      expect(problemOfDatabase(failure)).toMatchObject({ kind: 'overloaded' });
    }
    const pool = start();
    const acme = tenant(pool);
    for (let attempt = 0; attempt < 5; attempt++) {
      const broken = inTenantConnection(pool, acme.tenantId, (connection) =>
        connection.query('SELECT pg_terminate_backend(pg_backend_pid())'),
      );
      await expect(broken).rejects.toThrow();
    }
    expect(await acme.read()).toBe(true);
    expect([nowhere.tenantPlaces.runningCount, pool.tenantPlaces.runningCount]).toEqual([0, 0]);
  });
});

describe("the platform's own work", () => {
  it('goes on while tenants hold all of their connections', async () => {
    const pool = start({ pipeline: true });
    const tenants = [tenant(pool), tenant(pool)];
    const ends = [await tenants[0]!.hold(2), await tenants[1]!.hold(1)];

    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
    expect(await readInPlatform(pool, { text: 'SELECT 1 AS one' })).toEqual([{ one: 1 }]);
    expect(await plainDatabase(pool).inPlatform((tx) => tx.$queryRawUnsafe('SELECT 1 AS one'))).toEqual([
      { one: 1 },
    ]);

    for (const end of ends) await end();
  });

  it('goes on in a tenant that holds all it can, whatever becomes of the request that woke it', async () => {
    const pool = start();
    const acme = tenant(pool);
    const end = await acme.hold(2);
    const request = new AbortController();
    let isDone = (_read: boolean): void => undefined;
    const done = new Promise<boolean>((resolve) => (isDone = resolve));
    const task = backgroundTask(async () => isDone(await acme.read()), {
      name: 'test',
      intervalMilliseconds: 60_000,
      log: silentLog(),
    });
    opened.push(task.close);

    forRequest(request.signal, () => task.wake());
    request.abort();

    expect(await done).toBe(true);
    await end();
  });
});
