import { eventType, type EventEnvelope } from '@plinth/kernel/event';
import { newId } from '@plinth/kernel/uuid';
import { eventConsumer } from '@plinth/runtime/messaging/consumer';
import { storeDeadLetter } from '@plinth/runtime/messaging/dead-letters';
import { subscription, type Subscription } from '@plinth/runtime/messaging/subscription';
import { closeAll, type Close } from '@plinth/runtime/process/lifecycle';
import { silentLog } from '@plinth/runtime/process/log';
import type { Messaging } from '@plinth/runtime/messaging/nats';
import { appendToOutbox, startOutboxRelay, type OutboxRelay } from '@plinth/runtime/messaging/outbox';
import { createPool, type RawStatements } from '@plinth/runtime/postgres/postgres';
import { connectedMessaging } from '@plinth/testing/connected-messaging';
import { eventually } from '@plinth/testing/eventually';
import { TEST_KEYS } from '@plinth/testing/http';
import { infrastructure } from '@plinth/testing/infrastructure';
import { createTestDatabase, type TestDatabase } from '@plinth/testing/test-database';
import { z } from 'zod';
import { counted } from '@plinth/testing/counted-event';
import { plainDatabase } from '@plinth/testing/plain-database';

const DAY_MILLISECONDS = 86_400_000;
const log = silentLog();
const tenantId = newId();
const config = {
  NATS_URL: infrastructure().natsUrl,
  NATS_PREFIX: `dead_${newId().replaceAll('-', '')}`,
  EVENT_KEYS: TEST_KEYS,
};
let isBroken = true;
const processed: number[] = [];
const apply = subscription(counted, async (_tx: RawStatements, { payload }) => {
  if (payload.isPoison && isBroken) throw new Error('This does not work yet.');
  // An event in the same batch as one that fails is rolled back and retried.
  return () => void processed.push(payload.position);
});

let database: TestDatabase;
let db: ReturnType<typeof plainDatabase>;
let messaging: Messaging;
let relay: OutboxRelay;
const closers: Close[] = [];
beforeAll(async () => {
  database = await createTestDatabase('timeline');
  const pool = createPool(database.url, log);
  db = plainDatabase(pool);
  messaging = await connectedMessaging(config);
  relay = startOutboxRelay(db, messaging, log);
  closers.push(database.drop, () => pool.end(), messaging.close, relay.close);
});
afterAll(() => closeAll(closers, log));
beforeEach(() => void processed.splice(0));

/** A release of a service. */
const release = (...subscriptions: Subscription<RawStatements>[]) =>
  eventConsumer('counter', subscriptions, db, messaging, log, { deliveriesMax: 3, backoffMilliseconds: 5 });

const payloadOf = (position: number, isPoison: boolean) => ({
  counter: 'one',
  amount: 1,
  position,
  isPoison,
});

const publish = async (position: number, isPoison = false) => {
  await db.inTenant(tenantId, (tx) =>
    appendToOutbox(tx, { type: counted, tenantId, subject: 'one', payload: payloadOf(position, isPoison) }),
  );
  relay.wake();
};

const storeLetter = async (position: number, changes: Partial<EventEnvelope> = {}) => {
  const event: EventEnvelope = {
    id: newId(),
    name: counted.name,
    tenantId,
    subject: 'one',
    sequence: position,
    occurredAt: new Date().toISOString(),
    actorId: null,
    actorName: null,
    payload: payloadOf(position, false),
    ...changes,
  };
  await db.inTenant(tenantId, (tx) => storeDeadLetter(tx, 'counter', event, 'It did not work.', 3));
  return event;
};

describe('an event that cannot be processed', () => {
  it('becomes a dead letter while others are processed, and is processed once when it is replayed', async () => {
    const consumer = release(apply);
    const { deadLetters } = consumer;
    closers.push(await consumer.start());
    await publish(1, true);
    await publish(2);
    await publish(3);
    await eventually(() => processed.length === 2);
    const [letter, ...others] = await eventually(async () => {
      const letters = await deadLetters.list(10);
      return letters.length > 0 ? letters : undefined;
    });
    expect(others).toEqual([]);
    expect(letter).toMatchObject({ event: { name: 'chaos.counted', tenantId }, deliveries: 3 });
    expect(letter!.error).toMatch(/This does not work yet/);

    expect(await deadLetters.replay(10)).toEqual({ processed: 0, failed: 1 });
    expect(await deadLetters.list(10)).toMatchObject([{ deliveries: 4 }]);
    isBroken = false;
    expect(await deadLetters.replay(10, newId())).toEqual({ processed: 0, failed: 0 });
    // Two operators at once.
    await Promise.all([deadLetters.replay(10, letter!.event.id), deadLetters.replay(10)]);
    expect(processed.sort()).toEqual([1, 2, 3]);
    expect(await deadLetters.list(10)).toEqual([]);
  });
});

describe('a dead letter', () => {
  it('can be replayed however old its event is', async () => {
    const { deadLetters } = release(apply);
    await storeLetter(21, { occurredAt: new Date(Date.now() - 60 * DAY_MILLISECONDS).toISOString() });

    expect(await deadLetters.replay(10)).toEqual({ processed: 1, failed: 0 });
    expect(processed).toEqual([21]);
    expect(await deadLetters.list(10)).toEqual([]);
  });

  it('stays where it is replayed by a release that does not subscribe to its event, behind the others', async () => {
    const { deadLetters } = release(apply);
    const ofLaterRelease = eventType('chaos.added-later', counted.payload);
    const event = await storeLetter(31, { name: ofLaterRelease.name });
    await storeLetter(32);

    expect(await deadLetters.replay(1)).toEqual({ processed: 0, failed: 1 });
    expect(await deadLetters.replay(1)).toEqual({ processed: 1, failed: 0 });
    expect(processed).toEqual([32]);
    const error = expect.stringContaining('does not subscribe to chaos.added-later');
    expect(await deadLetters.list(10)).toMatchObject([{ event, error }]);

    const later = release(
      subscription(ofLaterRelease, async (_tx, { payload }) => void processed.push(payload.position)),
    );
    expect(await later.deadLetters.replay(1)).toEqual({ processed: 1, failed: 0 });
    expect(processed).toEqual([32, 31]);
  });
});

describe('a newer release of a service', () => {
  it('continues with the consumer of the release before, also with further subscriptions', async () => {
    const added: number[] = [];
    const newer = release(
      subscription(counted, async (_tx, { payload }) => void added.push(payload.position)),
      subscription(eventType('chaos.added-later', z.object({})), async () => {}),
    );
    closers.push(await newer.start());
    for (const position of [11, 12, 13, 14]) await publish(position);
    await eventually(() => [11, 12, 13, 14].every((position) => [...processed, ...added].includes(position)));
  });
});
