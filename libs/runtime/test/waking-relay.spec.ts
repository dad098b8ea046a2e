import { newId } from '@plinth/kernel/uuid';
import { appendToOutbox, wakingRelay } from '@plinth/runtime/messaging/outbox';
import { createPool, type RawStatements, type TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { silentLog } from '@plinth/runtime/process/log';
import { counted } from '@plinth/testing/counted-event';
import { plainDatabase } from '@plinth/testing/plain-database';
import { createTestDatabase, type TestDatabase } from '@plinth/testing/test-database';
import type { FairPool } from '@plinth/runtime/postgres/fair-pool';

const tenantId = newId();
const payload = { counter: 'one', amount: 1, position: 0, isPoison: false };
const publish = (tx: RawStatements) =>
  appendToOutbox(tx, { type: counted, tenantId, subject: 'one', payload });

describe('a relay', () => {
  let database: TestDatabase;
  let pool: FairPool;
  let db: TenantDatabase<RawStatements>;
  /** How many events were committed whenever the relay was woken. */
  let woken: Promise<number>[];
  const countEvents = async () => {
    const rows = await plainDatabase(pool).inTenant(tenantId, (tx) =>
      tx.$queryRawUnsafe<{ count: number }[]>('SELECT count(*)::int AS count FROM outbox'),
    );
    return rows[0]!.count;
  };
  beforeEach(async () => {
    database = await createTestDatabase('timeline');
    pool = createPool(database.url, silentLog(), { pipeline: true });
    woken = [];
    db = wakingRelay(plainDatabase(pool), { place: () => 0n, wake: () => void woken.push(countEvents()) });
  });
  afterEach(async () => {
    await pool.end();
    await database.drop();
  });

  it('is woken once, after the commit, by a transaction that published', async () => {
    await db.inTenant(tenantId, async (tx) => {
      await publish(tx);
      await publish(tx);
    });

    expect(await Promise.all(woken)).toEqual([2]);
  });

  it('is not woken by a transaction that published nothing, or that failed', async () => {
    await db.inTenant(tenantId, (tx) => tx.$queryRawUnsafe('SELECT FROM outbox'));
    await db.inPlatform((tx) => tx.$queryRawUnsafe('SELECT FROM outbox'));
    await expect(
      db.inTenant(tenantId, async (tx) => {
        await publish(tx);
        throw new Error('This comes to nothing.');
      }),
    ).rejects.toThrow('nothing');

    expect(woken).toEqual([]);
    expect(await countEvents()).toBe(0);
  });
});
