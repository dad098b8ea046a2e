import { newId } from '@plinth/kernel/uuid';
import { consumeEvents } from '@plinth/runtime/messaging/consumer';
import type { Messaging } from '@plinth/runtime/messaging/nats';
import { appendToOutbox, startOutboxRelay } from '@plinth/runtime/messaging/outbox';
import { subscription } from '@plinth/runtime/messaging/subscription';
import { createPool } from '@plinth/runtime/postgres/postgres';
import { closeAll, type Close } from '@plinth/runtime/process/lifecycle';
import { silentLog } from '@plinth/runtime/process/log';
import { connectedMessaging } from '@plinth/testing/connected-messaging';
import { counted } from '@plinth/testing/counted-event';
import { eventually } from '@plinth/testing/eventually';
import { TEST_KEYS } from '@plinth/testing/http';
import { infrastructure } from '@plinth/testing/infrastructure';
import { plainDatabase } from '@plinth/testing/plain-database';
import { createTestDatabase, type TestDatabase } from '@plinth/testing/test-database';
import pg from 'pg';
import { recheckEvents } from './recheck-events';

const log = silentLog();
const tenantId = newId();
const timing = {
  pollMilliseconds: 20,
  reconcileMilliseconds: 50,
  surveyMilliseconds: 50,
  confirmSeconds: 1,
};

let database: TestDatabase;
let db: ReturnType<typeof plainDatabase>;
let admin: pg.Client;
let messaging: Messaging;
const closers: Close[] = [];
beforeAll(async () => {
  database = await createTestDatabase('timeline');
  const pool = createPool(database.url, log);
  db = plainDatabase(pool);
  admin = new pg.Client({ connectionString: database.adminUrl });
  await admin.connect();
  const NATS_PREFIX = `restored_${newId()}`;
  messaging = await connectedMessaging({
    NATS_URL: infrastructure().natsUrl,
    NATS_PREFIX,
    EVENT_KEYS: TEST_KEYS,
  });
  closers.push(
    database.drop,
    () => admin.end(),
    () => pool.end(),
    messaging.close,
  );
});
afterAll(() => closeAll(closers, log));

/** Starts the publisher and a consumer of its events; returns what that receives, and how they stop. */
const startServices = async () => {
  const received: string[] = [];
  const receive = subscription(counted, async (_tx, { payload }) => void received.push(payload.counter));
  const stopConsumer = await consumeEvents('projection', [receive], db, messaging, log);
  const relay = startOutboxRelay(db, messaging, log, timing);
  return { received, stop: () => closeAll([stopConsumer, relay.close], log) };
};

const publish = (counter: string) =>
  db.inTenant(tenantId, (tx) =>
    appendToOutbox(tx, {
      type: counted,
      tenantId,
      subject: counter,
      payload: { counter, amount: 1, position: 0, isPoison: false },
    }),
  );

/** Resolves when each of so many events is published, and its consumer has said that it has it. */
const confirmed = (count: number) =>
  eventually(async () => {
    const { rows } = await admin.query(
      `SELECT count(*)::int AS count FROM outbox WHERE published_at IS NOT NULL AND check_at IS NULL
         AND NOT EXISTS (SELECT FROM event_subscription WHERE rechecked_to IS NOT NULL)`,
    );
    return rows[0].count === count;
  });

describe('the events of a publisher whose consumer was dumped before it', () => {
  it('are asked for after the restore, while NATS has survived, also those that the outbox is about to remove', async () => {
    const before = await startServices();
    await publish('new');
    await publish('a week old');
    await eventually(() => before.received.length === 2);
    await confirmed(2);
    await before.stop();
    // As the consumer was when it was dumped.
    await admin.query('DELETE FROM inbox');
    // JetStream knows the ids of the last two minutes only.
    await admin.query(
      `UPDATE outbox SET occurred_at = now() - interval '8 days', id = gen_random_uuid()
       WHERE subject = 'a week old'`,
    );

    await recheckEvents(database.adminUrl);

    const after = await startServices();
    await eventually(() => after.received.length === 2);
    expect(after.received.sort()).toEqual(['a week old', 'new']);
    await after.stop();
  });
});
