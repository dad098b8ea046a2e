import type { ConsumerMessages, JsMsg } from '@nats-io/jetstream';
import { eventType, type EventEnvelope } from '@plinth/kernel/event';
import { newId } from '@plinth/kernel/uuid';
import { Inbox } from '@plinth/runtime/messaging/inbox';
import { subscription } from '@plinth/runtime/messaging/subscription';
import { signMessage } from '@plinth/runtime/messaging/signed-message';
import { createPool, type RawStatements } from '@plinth/runtime/postgres/postgres';
import { closeAll, type Close } from '@plinth/runtime/process/lifecycle';
import { silentLog } from '@plinth/runtime/process/log';
import { TEST_KEYS } from '@plinth/testing/http';
import { eventually } from '@plinth/testing/eventually';
import { plainDatabase } from '@plinth/testing/plain-database';
import { createTestDatabase } from '@plinth/testing/test-database';
import type { FairPool } from '@plinth/runtime/postgres/fair-pool';
import { z } from 'zod';

const named = eventType('people.named', z.object({ name: z.string() }));
const tenantId = newId();
const closers: Close[] = [];
let pool: FairPool;

beforeAll(async () => {
  const database = await createTestDatabase('settings');
  closers.push(database.drop);
  // Requests wait for their connections as long as a test has them held.
  pool = createPool(database.url, silentLog(), { patienceMilliseconds: 300_000 });
  closers.push(() => pool.end());
});
afterAll(() => closeAll(closers.splice(0), silentLog()));

type Answer = 'ack' | 'nak' | 'term';

/** A message as JetStream delivers it, with what it is answered. */
function delivery(name: string, deliveryCount: number, id = newId()) {
  const answers: Answer[] = [];
  let settle = (): void => undefined;
  const answered = new Promise<void>((resolve) => (settle = resolve));
  const answer = (kind: Answer) => () => {
    answers.push(kind);
    settle();
  };
  const event = {
    id,
    name: named.name,
    tenantId,
    subject: name,
    sequence: 1,
    occurredAt: new Date().toISOString(),
    actorId: null,
    actorName: null,
    payload: { name },
  };
  const body = JSON.stringify(event);
  const subject = `test.events.${named.name}`;
  const message = {
    subject,
    data: new TextEncoder().encode(body),
    headers: signMessage(subject, body, TEST_KEYS),
    info: { deliveryCount },
    string: () => body,
    json: () => JSON.parse(body),
    ack: answer('ack'),
    nak: answer('nak'),
    term: answer('term'),
  } as unknown as JsMsg;
  return { id, message, answers, answered };
}

/** A process that receives these messages. Where `handle` never comes back, it is as if that had ended the process. */
async function receive(
  handle: (event: EventEnvelope<{ name: string }>) => Promise<void>,
  messages: JsMsg[],
): Promise<void> {
  const subscriptions = [subscription<typeof named, RawStatements>(named, (_tx, event) => handle(event))];
  const options = { deliveriesMax: 10, backoffMilliseconds: 1 };
  const inbox = new Inbox('people', subscriptions, plainDatabase(pool), TEST_KEYS, silentLog(), options);
  await inbox.processAll(messages as unknown as ConsumerMessages);
  await inbox.stop();
}

const deadLetters = async (): Promise<string[]> => {
  const client = await pool.connect();
  try {
    await client.query(`SELECT set_config('plinth.scope', 'platform', false)`);
    const { rows } = await client.query('SELECT event_id::text AS id FROM dead_letter ORDER BY died_at');
    return rows.map(({ id }) => id);
  } finally {
    client.release(true);
  }
};

it('an event that ends every process that tries it becomes a dead letter, and those delivered beside it do not', async () => {
  const deadly = delivery('deadly', 6);
  const beside = delivery('beside', 6);
  let begun = (): void => undefined;
  const ended = new Promise<void>((resolve) => (begun = resolve));
  let die = (_reason: Error): void => undefined;
  const running = receive(
    ({ payload }) => {
      if (payload.name === 'beside') return Promise.resolve();
      begun();
      return new Promise((_resolve, reject) => (die = reject));
    },
    [beside.message, deadly.message],
  );
  await Promise.all([ended, beside.answered]);
  // What the process held is lost with it: nothing is committed, and nobody answers.
  expect(deadly.answers).toEqual([]);
  expect(beside.answers).toEqual(['ack']);
  expect(await deadLetters()).toEqual([deadly.id]);

  const again = delivery('deadly', 7, deadly.id);
  const tried: string[] = [];
  await receive(
    async ({ payload }) => void tried.push(payload.name),
    [again.message, delivery('next', 1).message],
  );
  expect(again.answers).toEqual(['term']);
  expect(tried).toEqual(['next']);
  expect(await deadLetters()).toEqual([deadly.id]);

  die(new Error('The end of the test.'));
  await running;
});

it.each([
  ['the database', Object.assign(new Error('The statement took too long.'), { code: '57014' })],
  ['its effect', new Error('This cannot be applied.')],
])(
  'an event that was never answered and then fails because of %s is tried by whoever gets it next',
  async (_, error) => {
    const before = await deadLetters();
    const failing = delivery('unlucky', 6);
    await receive(() => Promise.reject(error), [failing.message]);
    expect(failing.answers).toEqual(['nak']);
    // It would be lost without it, where another process terminated the event meanwhile.
    expect(await deadLetters()).toEqual([...before, failing.id]);

    const again = delivery('unlucky', 7, failing.id);
    const tried: string[] = [];
    await receive(async ({ payload }) => void tried.push(payload.name), [again.message]);
    expect({ answers: again.answers, tried }).toEqual({ answers: ['ack'], tried: ['unlucky'] });
    expect(await deadLetters()).toEqual(before);
  },
);

it('an event is processed while requests of its tenant hold all connections that tenants share', async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const requests = Array.from({ length: 20 }, () => plainDatabase(pool).inTenant(tenantId, () => released));
  await eventually(() => pool.tenantPlaces.waitingCount > 0);

  const event = delivery('beside requests', 1);
  await receive(async () => undefined, [event.message]);

  expect(event.answers).toEqual(['ack']);
  release();
  await Promise.all(requests);
});
