import { setImmediate } from 'node:timers/promises';
import type { ConsumerMessages, JsMsg } from '@nats-io/jetstream';
import { HOST_TENANT_ID } from '@plinth/kernel/caller';
import { eventType, type EventEnvelope } from '@plinth/kernel/event';
import { newId } from '@plinth/kernel/uuid';
import { consumeEvents } from '@plinth/runtime/messaging/consumer';
import { Inbox } from '@plinth/runtime/messaging/inbox';
import { subscriptionOfMany } from '@plinth/runtime/messaging/subscription';
import { storeDeadLetter } from '@plinth/runtime/messaging/dead-letters';
import { subjectOf, type Messaging } from '@plinth/runtime/messaging/nats';
import { signMessage } from '@plinth/runtime/messaging/signed-message';
import { storeWaiting } from '@plinth/runtime/messaging/waiting-events';
import type { FairPool } from '@plinth/runtime/postgres/fair-pool';
import { createPool, type RawStatements, type TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { closeAll, type Close } from '@plinth/runtime/process/lifecycle';
import { silentLog } from '@plinth/runtime/process/log';
import { connectedMessaging } from '@plinth/testing/connected-messaging';
import { eventually } from '@plinth/testing/eventually';
import { TEST_KEYS } from '@plinth/testing/http';
import { infrastructure } from '@plinth/testing/infrastructure';
import { plainDatabase } from '@plinth/testing/plain-database';
import { createTestDatabase, type TestDatabase } from '@plinth/testing/test-database';
import { z } from 'zod';

const counted = eventType('batches.counted', z.object({ position: z.number() }));
type Batch = { tenantId: string; events: { subject: string; position: number }[] };

const closers: Close[] = [];
afterEach(() => closeAll(closers.splice(0), silentLog()));

let database: TestDatabase;
let pool: FairPool;
beforeAll(async () => {
  database = await createTestDatabase('settings');
  pool = createPool(database.url, silentLog());
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const newEvent = (tenantId: string, subject: string, position: number) => ({
  id: newId(),
  name: counted.name,
  tenantId,
  subject,
  sequence: position,
  occurredAt: new Date().toISOString(),
  actorId: null,
  actorName: null,
  payload: { position },
});

const publisherTo =
  ({ jetstream, prefix, keys }: Messaging) =>
  async (tenantId: string, subject: string, position: number): Promise<void> => {
    const to = subjectOf(prefix, counted.name);
    const body = JSON.stringify(newEvent(tenantId, subject, position));
    await jetstream.publish(to, body, { headers: signMessage(to, body, keys) });
  };

/** Consumes with a handler that first waits for `isReady` of its batch. */
async function consume(isReady: (batch: Batch) => Promise<void>) {
  const messaging = await connectedMessaging({
    NATS_URL: infrastructure().natsUrl,
    NATS_PREFIX: `batches_${newId().replaceAll('-', '')}`,
    EVENT_KEYS: TEST_KEYS,
  });
  closers.push(messaging.close);
  const batches: Batch[] = [];
  const subscriptions = [
    subscriptionOfMany(counted, async (_tx: RawStatements, tenantId, events) => {
      const described = events.map(({ subject, payload: { position } }) => ({ subject, position }));
      const batch = { tenantId, events: described };
      await isReady(batch);
      return () => void batches.push(batch);
    }),
  ];
  closers.push(await consumeEvents('batches', subscriptions, plainDatabase(pool), messaging, silentLog()));
  return { publish: publisherTo(messaging), batches };
}

describe('events that wait', () => {
  it('share a transaction of their tenant, in the order of each subject, and hold up no other tenant', async () => {
    const [acme, other] = [newId(), newId()];
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { publish, batches } = await consume((batch) =>
      batch.tenantId === acme ? released : Promise.resolve(),
    );

    for (let position = 1; position <= 12; position++)
      await publish(acme, `subject ${position % 3}`, position);
    await publish(other, 'subject 0', 1);

    await eventually(() => batches.length > 0);
    expect(batches).toEqual([{ tenantId: other, events: [{ subject: 'subject 0', position: 1 }] }]);
    release();
    await eventually(() => batches.flatMap(({ events }) => events).length === 13);
    const ofAcme = batches.filter(({ tenantId }) => tenantId === acme);
    expect(ofAcme.length).toBeLessThanOrEqual(2);
    const events = ofAcme.flatMap((batch) => batch.events);
    for (const subject of ['subject 0', 'subject 1', 'subject 2']) {
      const positions = events.filter((event) => event.subject === subject).map(({ position }) => position);
      expect(positions).toEqual([...positions].sort((left, right) => left - right));
      expect(positions).toHaveLength(4);
    }
  });

  it('are stored where one tenant has many, which hold up no other tenant and keep their order', async () => {
    const [acme, other] = [HOST_TENANT_ID, newId()];
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { publish, batches } = await consume((batch) =>
      batch.tenantId === acme ? released : Promise.resolve(),
    );
    const count = 200;

    const positions = Array.from({ length: count }, (_, index) => index + 1);
    for (const position of positions) await publish(acme, `subject ${position % 20}`, position);
    await publish(other, 'subject 0', 1);

    await eventually(() => batches.length > 0);
    expect(batches).toEqual([{ tenantId: other, events: [{ subject: 'subject 0', position: 1 }] }]);
    release();
    await eventually(() => batches.flatMap(({ events }) => events).length === count + 1);
    const events = batches.filter(({ tenantId }) => tenantId === acme).flatMap((batch) => batch.events);
    expect(events.map(({ position }) => position).sort((left, right) => left - right)).toEqual(positions);
    const bySubject = Map.groupBy(events, ({ subject }) => subject);
    for (const ofSubject of bySubject.values())
      expect(ofSubject).toEqual(ofSubject.toSorted((left, right) => left.position - right.position));
  });
});

type Handle = (positions: number[], tx: RawStatements) => Promise<void>;

/** A replica of a consumer, that has its turns at what is stored. */
function startReplica(
  consumer: string,
  handle: Handle,
  db: TenantDatabase<RawStatements> = plainDatabase(pool),
) {
  const subscriptions = [
    subscriptionOfMany(counted, (tx: RawStatements, _tenantId, events) =>
      handle(
        events.map(({ payload }) => payload.position),
        tx,
      ),
    ),
  ];
  const options = { deliveriesMax: 10, backoffMilliseconds: 1 };
  const inbox = new Inbox(consumer, subscriptions, db, TEST_KEYS, silentLog(), options);
  inbox.start();
  closers.push(() => inbox.stop());
  return inbox;
}

/** A message as JetStream delivers it. */
function delivered(event: EventEnvelope): JsMsg {
  const body = JSON.stringify(event);
  const subject = subjectOf('test', counted.name);
  const answer = () => undefined;
  const headers = signMessage(subject, body, TEST_KEYS);
  const [data, info] = [Buffer.from(body), { deliveryCount: 1 }];
  return {
    subject,
    data,
    headers,
    info,
    string: () => body,
    ack: answer,
    nak: answer,
    term: answer,
  } as never;
}

const oneTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

describe('stored events', () => {
  let tenantId: string;
  let consumer: string;
  beforeEach(() => {
    tenantId = newId();
    consumer = `consumer ${tenantId}`;
  });

  const store = async (positions: number[], changes: Partial<EventEnvelope> = {}) => {
    const events = positions.map((position) => ({ ...newEvent(tenantId, 'subject', position), ...changes }));
    const waiting = events.map((event) => ({ event, attempts: 0 }));
    await plainDatabase(pool).inTenant(tenantId, (tx) => storeWaiting(tx, consumer, tenantId, waiting));
    return events;
  };
  const rowsOf = (table: string) =>
    plainDatabase(pool).inTenant(tenantId, (tx) =>
      tx.$queryRawUnsafe<{ name: string }[]>(
        `SELECT envelope ->> 'name' AS name FROM ${table} WHERE consumer = $1`,
        consumer,
      ),
    );

  it('come before those of their subject that arrive together, more than the share of their tenant', async () => {
    await store(oneTo(40));
    const processed: number[] = [];
    const inbox = startReplica(consumer, async (positions) => void processed.push(...positions));
    const events = oneTo(100).map((index) => newEvent(tenantId, 'subject', 40 + index));

    await inbox.processAll(events.map(delivered) as unknown as ConsumerMessages);

    await eventually(() => processed.length === 140);
    expect(processed).toEqual(oneTo(140));
  });

  it('stay where this release does not subscribe to them, and are not missing', async () => {
    await store(oneTo(1), { name: 'batches.of-the-next-release' });
    const [known] = await store(oneTo(1));
    const processed: number[] = [];
    const inbox = startReplica(consumer, async (positions) => void processed.push(...positions));
    const reference = { tenant_id: tenantId, id: known!.id, name: known!.name };

    expect(await inbox.findMissing([reference, { ...reference, id: newId() }])).toHaveLength(1);
    // It is processed a moment before its transaction is committed.
    await eventually(async () => (await rowsOf('waiting_event')).length === 1);
    expect(processed).toEqual([1]);
    await inbox.deleteExpired();
    expect(await rowsOf('waiting_event')).toEqual([{ name: 'batches.of-the-next-release' }]);

    await plainDatabase(pool).inTenant(tenantId, (tx) =>
      tx.$executeRawUnsafe(`UPDATE waiting_event SET stored_at = now() - interval '31 days'`),
    );
    await inbox.deleteExpired();
    expect(await rowsOf('waiting_event')).toEqual([]);
  });

  it('and the inbox are cleaned some rows at a time, and it is known when there are more', async () => {
    const subscribed = newEvent(tenantId, 'subject', 1).name;
    await store(oneTo(3), { name: 'batches.of-a-former-release' });
    await plainDatabase(pool).inTenant(tenantId, async (tx) => {
      await tx.$executeRawUnsafe(`UPDATE waiting_event SET stored_at = now() - interval '31 days'`);
      await tx.$executeRawUnsafe(
        `INSERT INTO inbox (tenant_id, consumer, event_id, applied_at)
         SELECT $1::uuid, $2, gen_random_uuid(), now() - interval '31 days' FROM generate_series(1, 5)`,
        tenantId,
        consumer,
      );
    });
    const inbox = startReplica(consumer, async () => undefined);
    expect(inbox.names).toEqual([subscribed]);

    const passes: boolean[] = [];
    do passes.push(await inbox.deleteExpired(2));
    while (passes.at(-1));

    expect(passes).toEqual([true, true, false]);
    expect(await rowsOf('waiting_event')).toEqual([]);
    const left = await plainDatabase(pool).inTenant(tenantId, (tx) =>
      tx.$queryRawUnsafe<object[]>('SELECT FROM inbox WHERE consumer = $1', consumer),
    );
    expect(left).toEqual([]);
  });

  it('are dead where they ended each process that tried them', async () => {
    const [deadly] = await store(oneTo(1));
    await plainDatabase(pool).inTenant(tenantId, async (tx) => {
      await tx.$executeRawUnsafe('UPDATE waiting_event SET attempts = 6');
      await storeDeadLetter(tx, consumer, deadly!, 'It may end the process that tries it.', 6);
    });
    await store([2]);
    const processed: number[] = [];

    startReplica(consumer, async (positions) => void processed.push(...positions));

    await eventually(() => processed.length > 0);
    expect(processed).toEqual([2]);
    expect(await rowsOf('dead_letter')).toHaveLength(1);
    await eventually(async () => (await rowsOf('waiting_event')).length === 0);
  });

  it('are no dead letters where the database fails, however often they were tried', async () => {
    await store(oneTo(1));
    await plainDatabase(pool).inTenant(tenantId, (tx) =>
      tx.$executeRawUnsafe('UPDATE waiting_event SET attempts = 6 WHERE consumer = $1', consumer),
    );
    let isFirst = true;
    let deadLetters: number | undefined;
    startReplica(consumer, async () => {
      if (isFirst) {
        isFirst = false;
        throw Object.assign(new Error('The server restarts.'), { code: '57P01' });
      }
      deadLetters = (await rowsOf('dead_letter')).length;
    });

    await eventually(() => deadLetters !== undefined);
    expect(deadLetters).toBe(0);
  });

  it('become dead letters where they fail again and again, although others keep arriving', async () => {
    await store(oneTo(32));
    const [faulty] = [0];
    await store([faulty]);
    let isDead = false;
    let attempts = 0;
    startReplica(consumer, async (positions, tx) => {
      if (positions.includes(faulty)) {
        if (positions.length === 1) attempts++;
        throw new Error('This cannot be applied.');
      }
      // As many as are processed, so that what is stored never ends.
      const next = positions.map((position) => ({
        event: newEvent(tenantId, 'subject', position),
        attempts: 0,
      }));
      if (!isDead) await storeWaiting(tx, consumer, tenantId, next);
    });

    await eventually(async () => (await rowsOf('dead_letter')).length > 0).finally(() => (isDead = true));
    expect(attempts).toBe(10);
    await eventually(async () => (await rowsOf('waiting_event')).length === 0);
  });

  it('keep their order where the database fails in the middle of it', async () => {
    await store(oneTo(40));
    const processed: number[] = [];
    let failures = 0;
    startReplica(consumer, async (positions) => {
      if (failures++ === 0) throw Object.assign(new Error('The server restarts.'), { code: '57P01' });
      processed.push(...positions);
    });

    await eventually(() => processed.length === 40);
    expect(processed).toEqual(oneTo(40));
  });

  it('are processed once by two replicas, of which neither waits for the other', async () => {
    await store(oneTo(40));
    const processed: number[] = [];
    const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const [taken, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const first: Handle = async (positions) => {
      begun.resolve();
      await released.promise;
      await setImmediate();
      processed.push(...positions);
    };
    const db = plainDatabase(pool);
    let transactions = 0;
    // Takes the same events before the first replica does, and comes to process them when that has begun.
    startReplica(consumer, async (positions) => void processed.push(...positions), {
      ...db,
      inTenant: async (...parts) => {
        transactions++;
        if (transactions !== 2) return db.inTenant(...parts);
        taken.resolve();
        await begun.promise;
        return db.inTenant(...parts).finally(() => left.resolve());
      },
    });
    await taken.promise;
    startReplica(consumer, first);

    let isLeft = false;
    void left.promise.then(() => (isLeft = true));
    await eventually(() => isLeft).finally(() => released.resolve());
    await eventually(() => processed.length === 40);
    expect(processed).toEqual(oneTo(40));
  });
});
