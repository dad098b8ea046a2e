import { newId } from '@plinth/kernel/uuid';
import { createPool } from '@plinth/runtime/postgres/postgres';
import {
  deleteExpiredOperations,
  operationRecorded,
  runOnce,
  runUnlessRecorded,
  type Operation,
} from '@plinth/runtime/postgres/run-once';
import { silentLog } from '@plinth/runtime/process/log';
import { eventually } from '@plinth/testing/eventually';
import { plainDatabase } from '@plinth/testing/plain-database';
import { createTestDatabase, type TestDatabase } from '@plinth/testing/test-database';
import type { FairPool } from '@plinth/runtime/postgres/fair-pool';
import { Client } from 'pg';

let database: TestDatabase;
let admin: Client;
let pool: FairPool;

beforeAll(async () => {
  database = await createTestDatabase('settings');
  admin = new Client({ connectionString: database.adminUrl });
  await admin.connect();
  pool = createPool(database.url, silentLog());
});
afterAll(async () => {
  await pool.end();
  await admin.end();
  await database.drop();
});

/** In this database: other specs have the same server. */
const someoneWaits = async () => {
  const { rowCount } = await admin.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rowCount === 1;
};

describe('runOnce', () => {
  const caller = () => ({ tenantId: newId(), operationId: newId() });

  /** Runs an effect that counts its runs and returns the count. */
  function counter() {
    let runs = 0;
    const run = (by: Operation, work?: () => Promise<void>) =>
      plainDatabase(pool).inTenant(by.tenantId, (tx) =>
        runOnce(tx, by, async () => {
          runs += 1;
          await work?.();
          return { runs };
        }),
      );
    return { run, runs: () => runs };
  }

  it('runs an effect once for an operation, and gives a retry its result', async () => {
    const { run, runs } = counter();
    const operation = caller();

    expect(await run(operation)).toEqual({ runs: 1 });
    expect(await run(operation)).toEqual({ runs: 1 });
    expect(runs()).toBe(1);
  });

  it('gives a retry the result that was known before the effect', async () => {
    const operation = caller();
    const runs: string[] = [];
    const run = (id: string) =>
      plainDatabase(pool).inTenant(operation.tenantId, (tx) => {
        const effect = () => Promise.resolve({ id: runs[runs.push(id) - 1]! });
        return runOnce(tx, operation, effect, { id });
      });

    expect(await run('first')).toEqual({ id: 'first' });
    expect(await run('second')).toEqual({ id: 'first' });
    expect(runs).toEqual(['first']);
  });

  it('runs an effect without an operation id every time', async () => {
    const { run } = counter();
    const { tenantId } = caller();

    expect(await run({ tenantId })).toEqual({ runs: 1 });
    expect(await run({ tenantId })).toEqual({ runs: 2 });
  });

  it('runs the same operation id once for each tenant', async () => {
    const { run } = counter();
    const operation = caller();

    await run(operation);

    expect(await run({ ...operation, tenantId: newId() })).toEqual({ runs: 2 });
  });

  it('runs an effect again that failed before', async () => {
    const { run } = counter();
    const operation = caller();

    await expect(run(operation, () => Promise.reject(new Error('away')))).rejects.toThrow('away');

    expect(await run(operation)).toEqual({ runs: 2 });
  });

  it('has a retry beside the first run wait for its result', async () => {
    const { run, runs } = counter();
    const operation = caller();
    let finish = (): void => undefined;
    const first = run(operation, () => new Promise((resolve) => (finish = resolve)));
    await eventually(() => runs() === 1);

    const retry = run(operation);
    await eventually(someoneWaits);
    finish();

    expect(await Promise.all([first, retry])).toEqual([{ runs: 1 }, { runs: 1 }]);
  });

  it('gives a retry nothing where the effect has no result', async () => {
    const { tenantId, operationId } = caller();
    const run = () =>
      plainDatabase(pool).inTenant(tenantId, (tx) => runOnce(tx, { tenantId, operationId }, async () => {}));

    await run();

    expect(await run()).toBeNull();
  });

  it('refuses a result of more than 8 kB, which no quota counts', async () => {
    const operation = caller();
    const run = (result: string) =>
      plainDatabase(pool).inTenant(operation.tenantId, (tx) => runOnce(tx, operation, async () => result));

    await expect(run('ä'.repeat(4_096))).rejects.toThrow(RangeError);
    expect(() => operationRecorded(operation, 'ä'.repeat(4_096))).toThrow(RangeError);

    expect(await run('ä'.repeat(4_095))).toHaveLength(4_095);
  });

  it('refuses another request with the idempotency key of an operation that was executed', async () => {
    const { run, runs } = counter();
    const operation = { ...caller(), operationBodyHash: 'first' };
    await run(operation);

    const other = run({ ...operation, operationBodyHash: 'second' });

    await expect(other).rejects.toMatchObject({ kind: 'invalid', slug: 'idempotency-payload-mismatch' });
    expect(await run(operation)).toEqual({ runs: 1 });
    expect(runs()).toBe(1);
  });

  it('compares nothing with an operation of a version that stored no body', async () => {
    const { run } = counter();
    const operation = caller();
    await run(operation);

    expect(await run({ ...operation, operationBodyHash: 'of the retry' })).toEqual({ runs: 1 });
  });

  it('stores operations for a week', async () => {
    const { run } = counter();
    const [recent, old] = [caller(), caller()];
    await run(recent);
    await run(old);
    await admin.query(
      `UPDATE executed_operation SET executed_at = now() - interval '8 days' WHERE operation_id = $1`,
      [old.operationId],
    );

    expect(await deleteExpiredOperations(plainDatabase(pool))).toBe(1);
    expect(await run(recent)).toEqual({ runs: 1 });
  });
});

describe('runUnlessRecorded', () => {
  const caller = () => ({ tenantId: newId(), operationId: newId() });

  /** Runs an effect that records its operation with the id of the attempt; `work` comes before that. */
  const attempt = (operation: Operation, id: string, work: () => Promise<void> | void = () => undefined) => {
    const db = plainDatabase(pool);
    return runUnlessRecorded(db, operation, () =>
      db.inTenant(operation.tenantId, async (tx) => {
        const recorded = operationRecorded(operation, { id });
        if (recorded) await tx.$executeRawUnsafe(recorded.text, ...recorded.values);
        await work();
        return { id };
      }),
    );
  };
  const refuse = () => {
    throw new Error('refused');
  };

  it('gives a retry the result of the first run, also where the retry would be refused', async () => {
    const operation = caller();

    expect(await attempt(operation, 'first')).toEqual({ id: 'first' });
    expect(await attempt(operation, 'second')).toEqual({ id: 'first' });
    expect(await runUnlessRecorded(plainDatabase(pool), operation, refuse)).toEqual({ id: 'first' });
  });

  it('refuses another request with the idempotency key of an operation that was executed', async () => {
    const operation = { ...caller(), operationBodyHash: 'first' };
    const mismatch = { kind: 'invalid', slug: 'idempotency-payload-mismatch' };
    await attempt(operation, 'first');
    const other = { ...operation, operationBodyHash: 'second' };

    await expect(attempt(other, 'second')).rejects.toMatchObject(mismatch);
    await expect(attempt(other, 'second', refuse)).rejects.toMatchObject(mismatch);
    expect(await attempt(operation, 'third')).toEqual({ id: 'first' });
  });

  it('runs an effect again that failed before, and one without an operation id every time', async () => {
    const operation = caller();
    const { tenantId } = operation;

    await expect(attempt(operation, 'first', refuse)).rejects.toThrow('refused');
    expect(await attempt(operation, 'second')).toEqual({ id: 'second' });
    expect(await attempt({ tenantId }, 'first')).toEqual({ id: 'first' });
    expect(await attempt({ tenantId }, 'second')).toEqual({ id: 'second' });
    await expect(attempt({ tenantId }, 'third', refuse)).rejects.toThrow('refused');
  });

  it('has a retry beside the first run wait for its result', async () => {
    const operation = caller();
    let finish = (): void => undefined;
    let isRecorded = false;
    const first = attempt(operation, 'first', () => {
      isRecorded = true;
      return new Promise((resolve) => (finish = resolve));
    });
    await eventually(() => isRecorded);

    const retry = attempt(operation, 'second');
    await eventually(someoneWaits);
    finish();

    expect(await Promise.all([first, retry])).toEqual([{ id: 'first' }, { id: 'first' }]);
  });

  it('does not ask a database that is away', async () => {
    const operation = caller();
    await attempt(operation, 'first');
    const away = Object.assign(new Error('away'), { code: 'ECONNREFUSED' });

    const asked = runUnlessRecorded(plainDatabase(pool), operation, () => Promise.reject(away));

    await expect(asked).rejects.toBe(away);
  });
});
