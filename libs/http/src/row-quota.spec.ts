import { undoingOnRollback } from '@plinth/runtime/postgres/beside-transaction';
import { silentLog } from '@plinth/runtime/process/log';
import { Registry } from 'prom-client';
import { RowQuota } from './row-quota';

/** A quota of a table that stands for the database. */
function aQuota(
  limit: number,
  rows: number,
  options: Pick<ConstructorParameters<typeof RowQuota>[0], 'countedMillisecondsMax' | 'makeRoom'> = {},
) {
  const table = { rows, counts: 0, isAway: false, millisecondsOfCount: 0, counted: Promise.resolve() };
  const time = { now: 0 };
  const $queryRawUnsafe = async () => {
    table.counts += 1;
    time.now += table.millisecondsOfCount;
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
    ...options,
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

  it('learns what others wrote who ask nobody, once its count is older than it may be', async () => {
    const { table, time, write } = aQuota(1_000_000, 10, { countedMillisecondsMax: 300_000 });
    await write();
    table.rows = 1_000_000;
    time.now += 300_000;
    expect(await write()).toBe('written');
    time.now += 1;
    expect(await write()).toBe('written');
    expect(await write()).not.toBe('written');
  });

  it('knows what was written without room, and takes nothing beside it', async () => {
    const { quota, write } = aQuota(100, 10);
    await write();
    quota.recordWritten('one', 500);
    expect(await write()).toMatchObject({ options: { extensions: { quota: { used: 511 } } } });
  });

  it('is for each tenant', async () => {
    const { write } = aQuota(5, 5);
    await write();
    expect(await write()).not.toBe('written');
    expect(await write(1, 'other')).toBe('written');
  });

  it('takes a tenth of it while rows cannot be counted, and then says that nobody knows', async () => {
    const { table, time, quota, write } = aQuota(50_000, 45_000);
    table.isAway = true;
    expect([await write(4_000), await write(1_000)]).toEqual(['written', 'written']);
    expect(await write()).toMatchObject({ kind: 'overloaded' });
    expect(() => quota.tryTake('one', 1)).toThrow('could not be counted');
    expect(() => quota.forImport({ jobId: 'a job', isDryRun: true }).tryTake('one', 1)).toThrow(
      'could not be counted',
    );
    expect(await write(1, 'other')).toBe('written');

    table.isAway = false;
    table.rows = 40_000;
    time.now += 5_000;
    expect(await write()).toMatchObject({ kind: 'overloaded' });
    expect(await write()).toBe('written');
  });

  it('is counted for a small part of the time, however long a count takes, and whether it fails', async () => {
    for (const [isAway, millisecondsOfCount] of [
      [true, 15_000],
      [false, 14_000],
    ] as const) {
      const { table, time, write } = aQuota(5, 5);
      Object.assign(table, { isAway, millisecondsOfCount });
      while (time.now < 600_000) {
        await write();
        time.now += 1_000;
      }
      expect(table.counts * millisecondsOfCount).toBeLessThan(600_000 / 8);
    }
  });

  it('is counted before many rows come at once where a tenth of it is less', async () => {
    const { quota, table } = aQuota(20_000, 10);
    await quota.whenKnown('one', 4_000);
    expect(quota.tryTake('one', 4_000)).toBe(true);

    const large = aQuota(1_000_000, 10);
    await large.quota.whenKnown('one', 4_000);
    expect([table.counts, large.table.counts]).toEqual([1, 0]);
  });

  it('is counted before many rows come at once that have no room by a count of before', async () => {
    const { quota, table, time, write } = aQuota(20_000, 20_000);
    expect([await write(), await write()]).toEqual(['written', expect.anything()]);
    table.rows = 10_000;
    time.now += 1;
    await quota.whenKnown('one', 4_000);
    expect(quota.tryTake('one', 4_000)).toBe(true);

    table.counts = 0;
    await quota.whenKnown('one', 4_000);
    expect(table.counts).toBe(0);
  });

  it('refuses for good only by a count that began after the question', async () => {
    const { quota, table, time, write } = aQuota(5, 5);
    expect([await write(), await write()]).toEqual(['written', expect.anything()]);
    time.now += 1;
    expect(await quota.hasRoomNow('one', 1)).toBe(false);
    table.rows = 4;
    time.now += 1;
    expect(quota.hasRoom('one', 1)).toBe(false);
    expect(await quota.hasRoomNow('one', 1)).toBe(true);

    table.counts = 0;
    expect(await quota.hasRoomNow('one', 1)).toBe(true);
    expect(table.counts).toBe(0);
  });

  it.each([true, false])(
    'refuses rows of an import by no count from before it, also behind one that took long; a dry-run: %s',
    async (isDryRun) => {
      const { quota, table, time, write } = aQuota(10_000, 10_000);
      table.millisecondsOfCount = 5_000;
      expect([await write(), await write()]).toEqual(['written', expect.anything()]);
      table.rows = 9_999;
      time.now += 20_000;
      const early = quota.forImport({ jobId: 'a job', isDryRun });
      await early.whenKnown('one', 1);
      expect(() => early.tryTake('one', 1)).toThrow('could not be counted');

      time.now += 31_000;
      const late = quota.forImport({ jobId: 'a job', isDryRun });
      await late.whenKnown('one', 1);
      expect([late.tryTake('one', 1), late.tryTake('one', 1)]).toEqual([true, false]);
    },
  );

  it('refuses rows of an import by no count from before they are sent, whenever it asked first', async () => {
    const { quota, table, time } = aQuota(1_000, 1_000);
    quota.forImport({ jobId: 'a job' });
    table.millisecondsOfCount = 3_000;
    time.now += 30 * 60_000;
    await quota.whenKnown('one', Infinity);
    table.rows = 0;
    time.now += 15_000;
    const room = quota.forImport({ jobId: 'a job' });
    await room.whenKnown('one', 500);
    expect(() => room.tryTake('one', 1)).toThrow('could not be counted');
  });

  it.each([true, false])(
    'refuses an import that is sent again by the count that its refusal before began; a dry-run: %s',
    async (isDryRun) => {
      const { quota, table, time } = aQuota(1_000, 900);
      table.millisecondsOfCount = 2_000;
      const sendAll = () =>
        undoingOnRollback(async () => {
          const room = quota.forImport({ jobId: 'a job', isDryRun });
          await room.whenKnown('one', Infinity);
          for (let batch = 0; batch < 20; batch++) {
            time.now += 8_000;
            if (!room.tryTake('one', 10)) return 'refused';
          }
          return 'written';
        });
      await quota.whenKnown('one', Infinity);
      time.now += 8_000;
      await expect(sendAll()).rejects.toThrow('could not be counted');
      time.now += 10_000;
      expect(await sendAll()).toBe('refused');
    },
  );

  it('refuses nobody for good while rows cannot be counted, or were counted for long', async () => {
    const { quota, table, time, write } = aQuota(5, 5);
    await write();
    table.rows = 0;
    time.now += 60_000;
    table.isAway = true;
    await expect(quota.hasRoomNow('one', 1)).rejects.toThrow('could not be counted');

    Object.assign(table, { isAway: false, millisecondsOfCount: 10_000, rows: 5 });
    time.now += 60_000;
    expect(await quota.hasRoomNow('one', 1)).toBe(false);
    time.now += 1;
    await expect(quota.hasRoomNow('one', 1)).rejects.toThrow('could not be counted');
    time.now += 100_000;
    expect(await quota.hasRoomNow('one', 1)).toBe(false);
  });

  it('waits for no count of another tenant where it was counted just before itself', async () => {
    const { quota, table, write } = aQuota(5, 5);
    table.millisecondsOfCount = 1_000;
    expect([await write(), await write()]).toEqual(['written', expect.anything()]);
    const counted = Promise.withResolvers<void>();
    table.counted = counted.promise;
    expect(quota.hasRoom('two', 6)).toBe(false);

    await quota.whenKnown('one', Infinity);
    counted.resolve();
  });

  it('refuses nobody a few rows while they cannot be counted', async () => {
    const { table, time, write } = aQuota(5, 5);
    table.isAway = true;
    expect([await write(), await write()]).toEqual(['written', 'written']);
    table.isAway = false;
    time.now += 5_000;
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
    const dryRun = quota.forImport({ jobId: 'a job', isDryRun: true });

    expect([3, 2, 1].map((rows) => dryRun.tryTake('one', rows))).toEqual([true, true, false]);
    dryRun.giveBack('one', 2);
    expect([1, 1, 1].map((rows) => dryRun.tryTake('one', rows))).toEqual([true, true, false]);
    expect(quota.forImport({ jobId: 'a job', isDryRun: true }).tryTake('one', 5)).toBe(true);
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
    quota.requireRoom('one', 1);
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

  it('counts the rows of a transaction once it is committed, and none of them is forgotten', async () => {
    const { table, quota, write } = aQuota(10, 0);
    await undoingOnRollback(async () => {
      quota.take('one', 3);
      await new Promise((resolve) => setImmediate(resolve));
      expect(table.counts).toBe(0);
      table.rows += 3;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(table.counts).toBe(1);
    expect(await write(8)).not.toBe('written');
    expect(await write(7)).toBe('written');
  });

  it('keeps the room that a transaction took while others had the rows counted', async () => {
    const { table, quota, write } = aQuota(10, 0);
    await undoingOnRollback(async () => {
      quota.take('one', 3);
      await quota.whenKnown('one', 2_000);
      expect(table.counts).toBe(1);
      table.rows += 3;
    });
    expect(await write(8)).not.toBe('written');
    expect(await write(7)).toBe('written');
  });

  it('counts none twice that a transaction commits while they are counted', async () => {
    const { table, quota, write } = aQuota(10, 0);
    const counted = Promise.withResolvers<void>();
    table.counted = counted.promise;
    quota.requireRoom('one', 1);
    await undoingOnRollback(async () => {
      quota.take('one', 4);
      await new Promise((resolve) => setImmediate(resolve));
      expect(table.counts).toBe(1);
      table.rows += 4;
    });
    counted.resolve();
    await new Promise((resolve) => setImmediate(resolve));

    expect(await write(7)).not.toBe('written');
    expect(await write(6)).toBe('written');
  });

  it('has the room again at once that a transaction gives back, and no more of it where that fails', async () => {
    const { quota, write } = aQuota(20, 4);
    await write();
    await write(3);
    const failing = undoingOnRollback(async () => {
      quota.take('one', 12);
      quota.giveBack('one', 11);
      quota.take('one', 11);
      quota.giveBack('one', 11);
      throw new Error('a conflict');
    });
    await expect(failing).rejects.toThrow('a conflict');

    expect(await write(13)).not.toBe('written');
    expect(await write(12)).toBe('written');
  });

  it('counts none twice of others where a transaction gives back', async () => {
    const { table, time, quota, write } = aQuota(10, 0);
    await write();
    await write(3);
    time.now += 60_000;
    await undoingOnRollback(async () => {
      quota.take('one', 5);
      quota.giveBack('one', 5);
      expect(quota.hasRoom('one', 7)).toBe(false);
      await new Promise((resolve) => setImmediate(resolve));
      expect(table.counts).toBe(2);
    });
    expect(await write(7)).not.toBe('written');
    expect(await write(6)).toBe('written');
  });

  /** A quota of a table that is full, some of whose rows can be spared. */
  function aFullQuota(limit: number, spare: number, rows = limit) {
    const asked: number[] = [];
    const made = aQuota(limit, rows, {
      makeRoom: async (_tenantId, wanted) => {
        asked.push(wanted);
        const removed = Math.min(spare, wanted);
        spare -= removed;
        made.table.rows -= removed;
      },
    });
    return { ...made, asked };
  }

  it('has room made where somebody finds none, a tenth of it at least, for who asks a little later', async () => {
    const { write, asked } = aFullQuota(1_000, 1_000);
    await write(1);
    expect(await write(1)).toMatchObject({ slug: 'quota-exceeded' });
    expect(await write(1)).toBe('written');
    expect(asked).toEqual([100]);

    expect(await write(500)).toMatchObject({ slug: 'quota-exceeded' });
    expect(await write(500)).toBe('written');
    expect(asked).toEqual([100, 402]);
  });

  it('has room made for what is asked, and not soon again where there is too little', async () => {
    const { time, write, asked } = aFullQuota(1_000, 800);
    await write(1);
    expect(await write(700)).not.toBe('written');
    expect(await write(700)).toBe('written');
    for (let count = 0; count < 10; count++) expect(await write(200)).not.toBe('written');
    time.now += 11_000;
    for (let count = 0; count < 10; count++) expect(await write(200)).not.toBe('written');
    expect(asked).toEqual([701, 200, 101]);
  });

  it('has none made where there is room by a count, or never is, or where it is nobody who writes', async () => {
    const { table, quota, write, asked } = aFullQuota(1_000, 1_000, 900);
    await write(100);
    table.rows = 500;
    expect(await write(1)).not.toBe('written');
    expect(await write(1)).toBe('written');
    expect(await write(1_001)).not.toBe('written');
    expect(quota.forImport({ jobId: 'a job', isDryRun: true }).tryTake('one', 600)).toBe(false);
    await quota.whenKnown('one', Infinity);
    expect(asked).toEqual([]);
  });

  it('refuses rows of an import for good only where none can be made', async () => {
    const { table, time, quota, write, asked } = aFullQuota(1_000, 501);
    await write(1);
    const importing = async (jobId: string) => {
      await new Promise((resolve) => setImmediate(resolve));
      time.now += 1_000;
      const room = quota.forImport({ jobId });
      await room.whenKnown('one', 500);
      const isTaken = room.tryTake('one', 500);
      if (isTaken) table.rows += 500;
      return isTaken;
    };
    await expect(importing('first')).rejects.toThrow('could not be counted');
    expect(await importing('first')).toBe(true);
    await expect(importing('second')).rejects.toThrow('could not be counted');
    expect(await importing('second')).toBe(false);
    expect(asked).toEqual([501, 500]);
  });

  it.each([
    ['has room made for all that a transaction needs, also where the first part of it fits', 1_000, true],
    ['refuses a transaction for good that fits in part, where no room can be made for the rest', 0, false],
  ])('%s', async (_what, spare, isTakenAtLast) => {
    const { quota } = aFullQuota(1_000, spare, 900);
    /** All rows or none: what was taken is given back where there is no room for the rest. */
    const importing = (parts: number) =>
      undoingOnRollback(async () => {
        const { tryTake } = quota.forImport({ jobId: 'a job' });
        for (let part = 0; part < parts; part++) if (!tryTake('one', 80)) throw new Error('refused');
        return true;
      }).catch((error: Error) => (error.message === 'refused' ? false : undefined));
    await quota.whenKnown('one', Infinity);
    const attempts: (boolean | undefined)[] = [];
    while (attempts.length < 10 && attempts.at(-1) === undefined) {
      attempts.push(await importing(2));
      await quota.whenKnown('one', Infinity);
    }
    expect(attempts.at(-1)).toBe(isTakenAtLast);
    // More than the limit never has room.
    const ofTooMany: (boolean | undefined)[] = [];
    while (ofTooMany.length < 10 && ofTooMany.at(-1) === undefined) {
      ofTooMany.push(await importing(13));
      await quota.whenKnown('one', Infinity);
    }
    expect(ofTooMany.at(-1)).toBe(false);
  });

  it('keeps imports waiting where making room fails, until it does not', async () => {
    let isAway = true;
    const { quota, table, time } = aQuota(1_000, 1_000, {
      makeRoom: async () => {
        if (isAway) throw new Error('away');
        table.rows = 500;
      },
    });
    const importing = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      time.now += 6_000;
      const { whenKnown, tryTake } = quota.forImport({ jobId: 'a job' });
      await whenKnown('one', 80);
      return tryTake('one', 80);
    };
    await quota.whenKnown('one', Infinity);
    for (let count = 0; count < 3; count++) await expect(importing()).rejects.toThrow('could not be counted');
    isAway = false;
    expect(await importing()).toBe(true);
  });

  it('is counted for others while room is made', async () => {
    const made = Promise.withResolvers<void>();
    const { quota, table, write } = aQuota(5, 5, { makeRoom: () => made.promise });
    expect([await write(), await write()]).toEqual(['written', expect.anything()]);
    table.counts = 0;
    await quota.whenKnown('other', Infinity);
    expect(table.counts).toBe(1);
    made.resolve();
  });

  it('is counted although no room could be made', async () => {
    const { table, write } = aQuota(1_000, 1_000, {
      makeRoom: async () => Promise.reject(new Error('away')),
    });
    await write(1);
    expect(await write(1)).not.toBe('written');
    table.rows = 500;
    expect(await write(1)).not.toBe('written');
    expect(table.counts).toBe(2);
  });
});
