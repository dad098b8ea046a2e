import { eventType } from '@plinth/kernel/event';
import { newId } from '@plinth/kernel/uuid';
import { consumeEvents } from '@plinth/runtime/messaging/consumer';
import { subscriptionOfMany } from '@plinth/runtime/messaging/inbox';
import { connectMessaging, subjectOf, type Messaging } from '@plinth/runtime/messaging/nats';
import { signMessage } from '@plinth/runtime/messaging/signed-message';
import { createPool, type RawStatements } from '@plinth/runtime/postgres/postgres';
import { closeAll, type Close } from '@plinth/runtime/process/lifecycle';
import { silentLog } from '@plinth/runtime/process/log';
import { eventually } from '@plinth/testing/eventually';
import { TEST_KEYS } from '@plinth/testing/http';
import { infrastructure } from '@plinth/testing/infrastructure';
import { plainDatabase } from '@plinth/testing/plain-database';
import { createTestDatabase } from '@plinth/testing/test-database';
import { z } from 'zod';

const counted = eventType('batches.counted', z.object({ position: z.number() }));
type Batch = { tenantId: string; events: { subject: string; position: number }[] };

const closers: Close[] = [];
afterEach(() => closeAll(closers.splice(0), silentLog()));

const publisherTo =
  ({ jetstream, prefix, keys }: Messaging) =>
  async (tenantId: string, subject: string, position: number): Promise<void> => {
    const to = subjectOf(prefix, counted.name);
    const body = JSON.stringify({
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
    await jetstream.publish(to, body, { headers: signMessage(to, body, keys) });
  };

/** Consumes with a handler that first waits for `isReady` of its batch. */
async function consume(isReady: (batch: Batch) => Promise<void>) {
  const messaging = await connectMessaging(
    {
      NATS_URL: infrastructure().natsUrl,
      NATS_PREFIX: `batches_${newId().replaceAll('-', '')}`,
      EVENT_KEYS: TEST_KEYS,
    },
    silentLog(),
  );
  closers.push(messaging.close);
  const database = await createTestDatabase('settings');
  closers.push(database.drop);
  const pool = createPool(database.url, silentLog());
  closers.push(() => pool.end());

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
    const [acme, other] = [newId(), newId()];
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
