import { eventType } from '@plinth/kernel/event';
import { newId } from '@plinth/kernel/uuid';
import { consumeEvents, subscription } from '@plinth/runtime/inbox';
import { closeAll, type Close } from '@plinth/runtime/lifecycle';
import { silentLog } from '@plinth/runtime/log';
import { connectMessaging } from '@plinth/runtime/nats';
import { appendToOutbox, startOutboxRelay } from '@plinth/runtime/outbox';
import { createPool } from '@plinth/runtime/postgres';
import { eventually } from '@plinth/testing/eventually';
import { infrastructure } from '@plinth/testing/infrastructure';
import { createTestDatabase, type TestDatabase } from '@plinth/testing/test-database';
import { z } from 'zod';
import { counted } from './chaos-event';
import { listDeadLetters, replayDeadLetters } from './dead-letters';
import { plainDatabase } from './plain-database';

const closers: Close[] = [];
const tenantId = newId();
let database: TestDatabase;
let isBroken = true;
const applied: number[] = [];

const start = async () => {
  database = await createTestDatabase('timeline');
  closers.push(database.drop);
  const log = silentLog();
  const pool = createPool(database.url, log);
  closers.push(() => pool.end());
  const db = plainDatabase(pool);
  const config = { NATS_URL: infrastructure().natsUrl, NATS_PREFIX: `dead_${newId().replaceAll('-', '')}` };
  const messaging = await connectMessaging(config, log);
  closers.push(messaging.close);
  const relay = startOutboxRelay(db, messaging, log);
  closers.push(relay.close);
  const apply = subscription(counted, async (_tx, { payload }) => {
    if (payload.isPoison && isBroken) throw new Error('This does not work yet.');
    // What is tried together with something that fails is rolled back and tried again.
    return () => void applied.push(payload.position);
  });
  const options = { deliveriesMax: 3, backoffMilliseconds: 5 };
  closers.push(await consumeEvents('counter', [apply], db, messaging, log, options));
  const tell = async (position: number, isPoison: boolean) => {
    const payload = { counter: 'one', amount: 1, position, isPoison };
    await db.inTenant(tenantId, (tx) =>
      appendToOutbox(tx, { type: counted, tenantId, subject: 'one', payload }),
    );
    relay.wake();
  };
  return { tell, config };
};

afterAll(() => closeAll(closers, silentLog()));

describe('dead letters', () => {
  it('keep what cannot be applied while the rest flows on, and are applied once when they are replayed', async () => {
    const { tell, config } = await start();
    await tell(1, true);
    await tell(2, false);
    await tell(3, false);
    await eventually(() => applied.length === 2);
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
    const target = { natsUrl: config.NATS_URL, natsPrefix: config.NATS_PREFIX };
    expect(await replayDeadLetters(database.url, { ...target, event: newId() })).toBe(0);
    expect(await replayDeadLetters(database.url, { ...target, event: letter!.event_id })).toBe(1);
    await eventually(() => applied.length === 3);
    expect(applied.sort()).toEqual([1, 2, 3]);
    expect(await listDeadLetters(database.url)).toEqual([]);
    expect(await replayDeadLetters(database.url, target)).toBe(0);
  });
});

describe('a newer release', () => {
  it('goes on with the consumer of the one before, also when it listens to more', async () => {
    const { tell, config } = await start();
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
    for (const position of [11, 12, 13, 14]) await tell(position, false);
    await eventually(() => [11, 12, 13, 14].every((position) => [...applied, ...added].includes(position)));
  });
});
