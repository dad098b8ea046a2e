import type { ConsumerMessages, JsMsg } from '@nats-io/jetstream';
import { newId } from '@plinth/kernel/uuid';
import { Inbox } from '@plinth/runtime/messaging/inbox';
import { subscriptionOfMany } from '@plinth/runtime/messaging/subscription';
import { signMessage } from '@plinth/runtime/messaging/signed-message';
import { TenantTurns } from '@plinth/runtime/messaging/tenant-turns';
import type { FairPool } from '@plinth/runtime/postgres/fair-pool';
import type { RawStatements } from '@plinth/runtime/postgres/postgres';
import { silentLog } from '@plinth/runtime/process/log';
import { counted } from '@plinth/testing/counted-event';
import { TEST_KEYS } from '@plinth/testing/http';
import { plainDatabase } from '@plinth/testing/plain-database';
import { excessiveOf, readsUnderAllPlans } from '@plinth/testing/statement-plans';
import { createTestDatabase, type TestDatabase } from '@plinth/testing/test-database';
import type { Client } from 'pg';

const EVENTS = 20_000;
const EVENTS_OF_TURN = 16;
const CONSUMER = 'projection';

const newEvent = (tenantId: string) => ({
  id: newId(),
  name: counted.name,
  tenantId,
  subject: 'subject',
  sequence: 1,
  occurredAt: new Date().toISOString(),
  payload: { counter: 'counter', amount: 1, position: 1, isPoison: false },
});

/** Many that were processed; and of those that wait, some of names that another release subscribes to, and some that failed and are tried again in a day. */
async function fill(admin: Client, tenantId: string, count: number): Promise<void> {
  await admin.query(
    `INSERT INTO waiting_event (tenant_id, consumer, event_id, name, envelope, due_at)
     SELECT $1, '${CONSUMER}', id, CASE WHEN n % 3 = 0 THEN 'a name of another release' ELSE '${counted.name}' END,
       $2::jsonb || jsonb_build_object('id', id),
       CASE WHEN n % 3 = 1 THEN now() + interval '1 day' ELSE '-infinity' END
     FROM (SELECT n, gen_random_uuid() AS id FROM generate_series(1, $3::int) AS n) AS event`,
    [tenantId, JSON.stringify(newEvent(tenantId)), count],
  );
  await admin.query(
    `INSERT INTO inbox (tenant_id, consumer, event_id)
     SELECT $1, '${CONSUMER}', gen_random_uuid() FROM generate_series(1, $2::int)`,
    [tenantId, count],
  );
  // What was processed is removed so in life.
  await admin.query('VACUUM waiting_event');
}

const delivered = (event: ReturnType<typeof newEvent>): JsMsg => {
  const body = JSON.stringify(event);
  const subject = `test.events.${counted.name}`;
  const message = { subject, data: Buffer.from(body), headers: signMessage(subject, body, TEST_KEYS) };
  return { ...message, info: { deliveryCount: 1 }, string: () => body, ack: () => undefined } as never;
};

/** One turn of the tenant, in which one event fails, as the inbox takes it. */
async function takeTurn(pool: FairPool, tenantId: string): Promise<void> {
  const db = plainDatabase(pool);
  const { promise: taken, resolve } = Promise.withResolvers<number>();
  const turns = new TenantTurns(CONSUMER, [counted.name], db, silentLog(), async (deliveries, takeFrom) => {
    if (deliveries[0]?.event.tenantId !== tenantId) return deliveries.length;
    const [first, ...others] = deliveries;
    await first!.nak(60_000);
    const events = others.map(({ event }) => event);
    await db.inTenant(tenantId, (tx) => takeFrom(tx, events), 'once');
    resolve(deliveries.length);
    throw new Error('This is enough.');
  });
  turns.start();
  expect(await taken).toBeGreaterThan(EVENTS_OF_TURN / 2);
  await turns.close();
}

/** Receives events of a tenant that has others stored, so that they are stored behind them. */
async function receive(pool: FairPool, tenantId: string): Promise<void> {
  const processed = jest.fn();
  const subscriptions = [subscriptionOfMany(counted, async (_tx: RawStatements) => void processed())];
  const options = { deliveriesMax: 10, backoffMilliseconds: 1 };
  const inbox = new Inbox(CONSUMER, subscriptions, plainDatabase(pool), TEST_KEYS, silentLog(), options);
  const events = Array.from({ length: EVENTS_OF_TURN }, () => newEvent(tenantId));
  await inbox.processAll(events.map(delivered) as unknown as ConsumerMessages);
  await inbox.stop();
  const references = events.map(({ id, name }) => ({ tenant_id: tenantId, id, name }));
  expect(await inbox.findMissing(references)).toEqual([]);
  expect(processed).not.toHaveBeenCalled();
}

describe('stored events', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase('settings');
  });
  afterAll(() => database.drop());

  it('are found by indexes, however many a tenant has', async () => {
    const tenantId = newId();
    const reads = await readsUnderAllPlans(
      { ...database, fill, isOfRequests: true },
      { id: tenantId, rowCount: EVENTS },
      async (pool) => {
        await receive(pool, tenantId);
        await takeTurn(pool, tenantId);
      },
    );

    expect(excessiveOf(reads, EVENTS_OF_TURN)).toEqual([]);
  });
});
