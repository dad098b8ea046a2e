import { newId } from '@plinth/kernel/uuid';
import { recordBlob, unrecordedBlobs, type BlobName } from '@plinth/runtime/blobs/unrecorded-blobs';
import type { FairPool } from '@plinth/runtime/postgres/fair-pool';
import { createPool } from '@plinth/runtime/postgres/postgres';
import { silentLog } from '@plinth/runtime/process/log';
import { ALL_BUT_INTERVALS } from '@plinth/testing/all-but';
import { eventually } from '@plinth/testing/eventually';
import { plainDatabase } from '@plinth/testing/plain-database';
import { createTestDatabase, type TestDatabase } from '@plinth/testing/test-database';

let database: TestDatabase;
let pool: FairPool;

beforeAll(async () => {
  database = await createTestDatabase('timeline');
  pool = createPool(database.url, silentLog());
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

/** A store that only tells which files were removed; those of which a word is in their key cannot be. */
function aStore(stuck = 'never') {
  const db = plainDatabase(pool);
  const removed: string[] = [];
  const unrecorded = unrecordedBlobs(db, {
    delete: async (key) => {
      if (key.includes(stuck)) throw new Error('permission denied');
      removed.push(key);
    },
  });
  const begin = async (tenantId = newId(), kind = 'kind'): Promise<BlobName> => {
    const blob = { tenantId, key: `${tenantId}/${kind}/${newId()}` };
    await unrecorded.begin(blob);
    return blob;
  };
  const record = (blob: BlobName) => db.inTenant(blob.tenantId, (tx) => recordBlob(tx, blob));
  return { db, unrecorded, removed, begin, record };
}

const hours = (count: number) => new Date(Date.now() + count * 3_600_000);

describe('a file whose record is not stored yet', () => {
  it('is removed when it was begun too long ago, once, and one that has its record is not', async () => {
    const { unrecorded, removed, begin, record } = aStore();
    const [left, recorded] = [await begin(), await begin()];
    await record(recorded);
    let count = 0;
    const removeBegunBefore = (time: Date) => unrecorded.removeAbandoned(time, (some) => (count += some));

    await removeBegunBefore(hours(-1));
    expect(removed).toEqual([]);
    await Promise.all([removeBegunBefore(hours(1)), removeBegunBefore(hours(1))]);

    expect([...new Set(removed)]).toEqual([left.key]);
    expect(count).toBe(1);
    await expect(record(left)).rejects.toMatchObject({ kind: 'overloaded' });
  });

  it('is not removed while it is being stored, however long that takes', async () => {
    const { db, unrecorded, removed, begin, record } = aStore();
    const blob = await begin();
    const ofBlob = <Row>(statement: string) =>
      db.inTenant(blob.tenantId, (tx) => tx.$queryRawUnsafe<Row[]>(statement, blob.key));
    await ofBlob(`UPDATE unrecorded_blob SET since = since - interval '25 hours' WHERE key = $1`);
    const { promise: stored, resolve: finish } = Promise.withResolvers<void>();
    jest.useFakeTimers({ doNotFake: ALL_BUT_INTERVALS });
    try {
      const storing = unrecorded.whileStoring(blob, () => stored);
      jest.advanceTimersByTime(600_000);
      const isRenewed = `SELECT FROM unrecorded_blob WHERE key = $1 AND since > now() - interval '1 hour'`;
      await eventually(async () => (await ofBlob(isRenewed)).length > 0);

      await unrecorded.removeAbandoned(hours(-24));
      finish();
      await storing;
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }

    expect(removed).toEqual([]);
    await record(blob);
  });

  it('stays, once it is known whether its record was stored, where it was', async () => {
    const { db, unrecorded, removed, begin } = aStore();
    const blob = await begin();
    let commit = (): void => undefined;
    const held = new Promise<void>((resolve) => (commit = resolve));
    let isRecorded = false;
    const recorded = Promise.withResolvers<void>();
    const recording = db.inTenant(blob.tenantId, async (tx) => {
      await recordBlob(tx, blob);
      recorded.resolve();
      await held;
    });
    await recorded.promise;
    const waiting = async () => {
      const { rows } = await pool.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return rows.length > 0;
    };

    const abandoned = unrecorded.abandon(blob, async () => isRecorded);
    await eventually(waiting);
    isRecorded = true;
    commit();
    await Promise.all([recording, abandoned]);

    expect(removed).toEqual([]);
  });

  it('is removed where it was given up before, and its record is refused', async () => {
    const { unrecorded, removed, begin, record } = aStore();
    const blob = await begin();
    await unrecorded.removeAbandoned(hours(1));
    removed.length = 0;

    await unrecorded.abandon(blob, async () => false);

    expect(removed).toEqual([blob.key]);
    await expect(record(blob)).rejects.toMatchObject({ kind: 'overloaded' });
  });

  it('that cannot be removed comes again, and neither it nor another tenant holds up others', async () => {
    const { unrecorded, removed, begin } = aStore('stuck');
    const many = newId();
    for (let number = 0; number < 101; number++) await begin(many);
    const stuck = await begin(many, 'stuck');
    const other = await begin();
    await unrecorded.abandon(stuck, async () => false);

    await expect(unrecorded.removeAbandoned(hours(1))).rejects.toThrow('permission denied');
    expect(removed).toHaveLength(102);
    expect(removed.slice(0, 100)).toContain(other.key);
    await expect(unrecorded.removeAbandoned(hours(-1))).rejects.toThrow('permission denied');
  });
});
