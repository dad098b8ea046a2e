import { undoingOnRollback } from '@plinth/runtime/postgres/beside-transaction';
import { silentLog } from '@plinth/runtime/process/log';
import { Registry } from 'prom-client';
import { RowQuota } from './row-quota';

/** A quota of a table that stands for the database. */
function aQuota(limit: number, rows: number) {
  const table = { rows, counts: 0, isAway: false, counted: Promise.resolve() };
  const time = { now: 0 };
  const $queryRawUnsafe = async () => {
    table.counts += 1;
    if (table.isAway) throw new Error('away');
    await table.counted;
    return [{ rows: table.rows }];
  };
  const db = {
    inTenant: (_tenantId: string, work: (tx: never) => Promise<unknown>) =>
      work({ $queryRawUnsafe } as never),
  };
  const names = { table: 'entry', quota: 'entries', what: 'entries' };
  const metrics = new Registry();
  const quota = new RowQuota({
    db: db as never,
    log: silentLog(),
    metrics,
    limit,
    ...names,
    now: () => time.now,
  });
  /** Writes, and lets what that began in the background end. */
  const write = async (count = 1, tenantId = 'one') => {
    try {
      quota.take(tenantId, count);
      table.rows += count;
      return 'written';
    } catch (error) {
      return error as { options: { extensions: { quota: object } } };
    } finally {
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return { table, time, write, quota, metrics };
}

describe('a quota of rows', () => {
  it('says what is used and refuses what is beyond it, from the first count on', async () => {
    const { write } = aQuota(5, 4);
    expect(await write()).toBe('written');
    expect(await write()).toMatchObject({
      slug: 'quota-exceeded',
      options: { extensions: { quota: { name: 'entries', scope: 'tenant', limit: 5, used: 5 } } },
    });
  });

  it('counts nothing for everyday writes', async () => {
    const { table, time, write } = aQuota(1_000_000, 10);
    for (let count = 0; count < 5_000; count++) {
      time.now += 1_000;
      await write();
    }
    expect(table.counts).toBe(1);
  });

  it('refuses many rows at once where there is room for fewer, and takes those that fit', async () => {
    const { write } = aQuota(100, 90);
    await write();
    expect(await write(20)).not.toBe('written');
    expect(await write(9)).toBe('written');
  });

  it('has the room again that was taken for rows that were not added', async () => {
    const { write, quota } = aQuota(100, 90);
    await write();
    quota.take('one', 9);
    quota.giveBack('one', 9);
    expect(await write(9)).toBe('written');
    expect(await write()).not.toBe('written');
  });

  it('learns within a minute what was deleted, and soon what others wrote', async () => {
    const { table, time, write } = aQuota(20_000, 20_000);
    await write();
    expect(await write()).not.toBe('written');
    table.rows = 10_000;
    time.now += 60_000;
    expect(await write()).not.toBe('written');
    expect(await write()).toBe('written');

    table.rows = 19_900;
    time.now += 60_000;
    expect(await write(1_000)).toBe('written');
    expect(await write()).not.toBe('written');
  });

  it('is for each tenant', async () => {
    const { write } = aQuota(5, 5);
    await write();
    expect(await write()).not.toBe('written');
    expect(await write(1, 'other')).toBe('written');
  });

  it('refuses nobody while rows cannot be counted', async () => {
    const { table, time, write } = aQuota(5, 5);
    table.isAway = true;
    expect([await write(), await write()]).toEqual(['written', 'written']);
    table.isAway = false;
    time.now += 60_000;
    await write();
    expect(await write()).not.toBe('written');
  });

  it('counts refusals that nobody is told of', async () => {
    const { quota, write, metrics } = aQuota(5, 5);
    await write();
    expect(quota.tryTake('one', 1)).toBe(false);
    const { values } = await metrics.getSingleMetric('plinth_quota_refusals_total')!.get();
    expect(values).toMatchObject([{ value: 1, labels: { quota: 'entries', scope: 'tenant' } }]);
  });

  it('has no less room after a dry-run, which is refused what its rows would be together', async () => {
    const { quota, write } = aQuota(10, 4);
    await write();
    const dryRun = quota.forDryRun();

    expect([3, 2, 1].map((rows) => dryRun.tryTake('one', rows))).toEqual([true, true, false]);
    dryRun.giveBack('one', 2);
    expect([1, 1, 1].map((rows) => dryRun.tryTake('one', rows))).toEqual([true, true, false]);
    expect(quota.forDryRun().tryTake('one', 5)).toBe(true);
    expect(await write(5)).toBe('written');
  });

  it('has no less room after a transaction that failed', async () => {
    const { quota, write } = aQuota(10, 4);
    await write();
    const failing = undoingOnRollback(async () => {
      quota.take('one', 2);
      quota.tryTake('one', 3);
      throw new Error('a conflict');
    });
    await expect(failing).rejects.toThrow('a conflict');

    expect(await write(5)).toBe('written');
  });

  it('has no more room after a transaction that failed while its rows were counted', async () => {
    const { table, quota, write } = aQuota(10, 4);
    const counted = Promise.withResolvers<void>();
    table.counted = counted.promise;
    const failing = undoingOnRollback(async () => {
      quota.take('one', 3);
      await new Promise((resolve) => setImmediate(resolve));
      throw new Error('a conflict');
    });
    await expect(failing).rejects.toThrow('a conflict');
    counted.resolve();
    await new Promise((resolve) => setImmediate(resolve));

    expect(await write(7)).not.toBe('written');
    expect(await write(6)).toBe('written');
  });
});
