import { eventType } from '@plinth/kernel/event';
import { newId } from '@plinth/kernel/uuid';
import { consumeEvents, eventConsumer } from '@plinth/runtime/messaging/consumer';
import { subscription } from '@plinth/runtime/messaging/subscription';
import { closeAll, type Close } from '@plinth/runtime/process/lifecycle';
import { silentLog } from '@plinth/runtime/process/log';
import { connectMessaging } from '@plinth/runtime/messaging/nats';
import { appendToOutbox, startOutboxRelay } from '@plinth/runtime/messaging/outbox';
import { createPool } from '@plinth/runtime/postgres/postgres';
import { eventually } from '@plinth/testing/eventually';
import { TEST_KEYS } from '@plinth/testing/http';
import { infrastructure } from '@plinth/testing/infrastructure';
import { createTestDatabase, type TestDatabase } from '@plinth/testing/test-database';
import { z } from 'zod';
import { counted } from '@plinth/testing/counted-event';
import { listDeadLetters, replayDeadLetters } from './dead-letters';
import { plainDatabase } from '@plinth/testing/plain-database';

const closers: Close[] = [];
const tenantId = newId();
let database: TestDatabase;
let isBroken = true;
const processed: number[] = [];

const start = async () => {
  database = await createTestDatabase('timeline');
  closers.push(database.drop);
  const log = silentLog();
  const pool = createPool(database.url, log);
  closers.push(() => pool.end());
  const db = plainDatabase(pool);
  const config = {
    NATS_URL: infrastructure().natsUrl,
    NATS_PREFIX: `dead_${newId().replaceAll('-', '')}`,
    EVENT_KEYS: TEST_KEYS,
  };
  const messaging = await connectMessaging(config, log);
  closers.push(messaging.close);
  const relay = startOutboxRelay(db, messaging, log);
  closers.push(relay.close);
  const apply = subscription(counted, async (_tx, { payload }) => {
    if (payload.isPoison && isBroken) throw new Error('This does not work yet.');
    // An event in the same batch as one that fails is rolled back and retried.
    return () => void processed.push(payload.position);
  });
  const options = { deliveriesMax: 3, backoffMilliseconds: 5 };
  const consumer = eventConsumer('counter', [apply], db, messaging, log, options);
  closers.push(await consumer.start());
  const publish = async (position: number, isPoison: boolean) => {
    const payload = { counter: 'one', amount: 1, position, isPoison };
    await db.inTenant(tenantId, (tx) =>
      appendToOutbox(tx, { type: counted, tenantId, subject: 'one', payload }),
    );
    relay.wake();
  };
  return { publish, config, deadLetters: consumer.deadLetters };
};

afterAll(() => closeAll(closers, silentLog()));

describe('listDeadLetters and replayDeadLetters', () => {
  it('list an event that cannot be processed while others are, and process it once when it is replayed', async () => {
    const { publish, config } = await start();
    await publish(1, true);
    await publish(2, false);
    await publish(3, false);
    await eventually(() => processed.length === 2);
    const [letter, ...others] = await eventually(async () => {
      const letters = await listDeadLetters(database.url);
      return letters.length > 0 ? letters : undefined;
    });
    expect(others).toEqual([]);
    expect(letter).toMatchObject({
      tenant_id: tenantId,
      consumer: 'counter',
      name: 'chaos.counted',
      deliveries: 3,
    });
    expect(letter!.error).toMatch(/This does not work yet/);

    isBroken = false;
    const target = { natsUrl: config.NATS_URL, natsPrefix: config.NATS_PREFIX, eventKey: TEST_KEYS[0]! };
    expect(await replayDeadLetters(database.url, { ...target, event: newId() })).toBe(0);
    expect(await replayDeadLetters(database.url, { ...target, event: letter!.event_id })).toBe(1);
    await eventually(() => processed.length === 3);
    expect(processed.sort()).toEqual([1, 2, 3]);
    expect(await listDeadLetters(database.url)).toEqual([]);
    expect(await replayDeadLetters(database.url, target)).toBe(0);
  });
});

describe('the dead letters of a consumer', () => {
  it('are processed again by the service itself, once, and stay with their new error where that fails', async () => {
    isBroken = true;
    processed.length = 0;
    const { publish, deadLetters } = await start();
    await publish(21, true);
    const [letter] = await eventually(async () => {
      const letters = await deadLetters.list(10);
      return letters.length > 0 ? letters : undefined;
    });
    expect(letter).toMatchObject({ event: { name: 'chaos.counted', tenantId }, deliveries: 3 });

    expect(await deadLetters.replay(10)).toEqual({ processed: 0, failed: 1 });
    expect(await deadLetters.list(10)).toMatchObject([{ deliveries: 4 }]);
    isBroken = false;
    expect(await deadLetters.replay(10, newId())).toEqual({ processed: 0, failed: 0 });
    // Two operators at once.
    await Promise.all([deadLetters.replay(10, letter!.event.id), deadLetters.replay(10)]);
    expect(processed).toEqual([21]);
    expect(await deadLetters.list(10)).toEqual([]);
  });
});

describe('a newer release of a service', () => {
  it('continues with the consumer of the release before, also with further subscriptions', async () => {
    const { publish, config } = await start();
    const log = silentLog();
    const pool = createPool(database.url, log);
    closers.push(() => pool.end());
    const messaging = await connectMessaging(config, log);
    closers.push(messaging.close);
    const added: number[] = [];
    const subscriptions = [
      subscription(counted, async (_tx, { payload }) => void added.push(payload.position)),
      subscription(eventType('chaos.added-later', z.object({})), async () => {}),
    ];
    closers.push(await consumeEvents('counter', subscriptions, plainDatabase(pool), messaging, log));
    for (const position of [11, 12, 13, 14]) await publish(position, false);
    await eventually(() => [11, 12, 13, 14].every((position) => [...processed, ...added].includes(position)));
  });
});
