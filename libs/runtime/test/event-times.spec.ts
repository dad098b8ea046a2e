import { newId } from '@plinth/kernel/uuid';
import { appendToOutbox } from '@plinth/runtime/messaging/outbox';
import { createPool, type RawStatements } from '@plinth/runtime/postgres/postgres';
import { silentLog } from '@plinth/runtime/process/log';
import { counted } from '@plinth/testing/counted-event';
import { plainDatabase } from '@plinth/testing/plain-database';
import { createTestDatabase } from '@plinth/testing/test-database';

const tenantId = newId();
const publish = (tx: RawStatements, ...counters: string[]) =>
  appendToOutbox(
    tx,
    ...counters.map((counter) => ({
      type: counted,
      tenantId,
      subject: 'one',
      payload: { counter, amount: 1, position: 0, isPoison: false },
    })),
  );

describe('the time of an event', () => {
  it.each([[['second']], [['second', 'third']]])(
    'is later than that of an event which its transaction saw, though that began first (%j)',
    async (later) => {
      const database = await createTestDatabase('timeline');
      const pool = createPool(database.url, silentLog(), { pipeline: true });
      const db = plainDatabase(pool);
      await db.inTenant(tenantId, async (tx) => {
        await tx.$queryRawUnsafe('SELECT FROM outbox');
        await db.inTenant(tenantId, (other) => publish(other, 'first'));
        await publish(tx, ...later);
      });
      const events = await db.inTenant(tenantId, (tx) =>
        tx.$queryRawUnsafe<{ counter: string }[]>(
          `SELECT payload ->> 'counter' AS counter FROM outbox ORDER BY occurred_at, sequence`,
        ),
      );

      expect(events.map(({ counter }) => counter)).toEqual(['first', ...later]);
      await pool.end();
      await database.drop();
    },
  );
});
