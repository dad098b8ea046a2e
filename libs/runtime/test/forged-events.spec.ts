import { eventType } from '@plinth/kernel/event';
import { newId } from '@plinth/kernel/uuid';
import { consumeEvents } from '@plinth/runtime/messaging/consumer';
import { subscription } from '@plinth/runtime/messaging/subscription';
import { sendMessage, subjectOf, subscribeBroadcast } from '@plinth/runtime/messaging/nats';
import { signMessage } from '@plinth/runtime/messaging/signed-message';
import { createPool } from '@plinth/runtime/postgres/postgres';
import { closeAll, type Close } from '@plinth/runtime/process/lifecycle';
import { silentLog } from '@plinth/runtime/process/log';
import { connectedMessaging } from '@plinth/testing/connected-messaging';
import { eventually } from '@plinth/testing/eventually';
import { TEST_KEYS } from '@plinth/testing/http';
import { infrastructure } from '@plinth/testing/infrastructure';
import { plainDatabase } from '@plinth/testing/plain-database';
import { createTestDatabase } from '@plinth/testing/test-database';
import { z } from 'zod';

const promoted = eventType('people.promoted', z.object({ name: z.string() }));
const other = eventType('people.hired', z.object({ name: z.string() }));
const longAgo = { occurredAt: new Date(Date.now() - 31 * 86_400_000).toISOString() };
const closers: Close[] = [];
afterEach(() => closeAll(closers.splice(0), silentLog()));

const connectWith = async (EVENT_KEYS: string[], NATS_PREFIX: string) => {
  const messaging = await connectedMessaging({ NATS_URL: infrastructure().natsUrl, NATS_PREFIX, EVENT_KEYS });
  closers.push(messaging.close);
  return messaging;
};

it('an event that no process of the platform signed for its subject is believed by nobody', async () => {
  const prefix = `forged_${newId().replaceAll('-', '')}`;
  const newKeys = ['a-newer-key-of-the-platform', ...TEST_KEYS];
  const receiver = await connectWith(newKeys, prefix);
  const forger = await connectWith(['a-key-of-somebody-else'], prefix);
  const before = await connectWith(TEST_KEYS, prefix);
  const database = await createTestDatabase('settings');
  closers.push(database.drop);
  const pool = createPool(database.url, silentLog());
  closers.push(() => pool.end());

  const consumed: string[] = [];
  const seen: string[] = [];
  const subscriptions = [
    subscription(promoted, async (_tx, { payload }) => void consumed.push(payload.name)),
    subscription(other, async (_tx, { payload }) => void consumed.push(payload.name)),
  ];
  closers.push(await consumeEvents('people', subscriptions, plainDatabase(pool), receiver, silentLog()));
  closers.push(subscribeBroadcast(receiver, promoted, ({ payload }) => seen.push(payload.name)));
  await receiver.connection.flush();

  const subject = subjectOf(prefix, promoted.name);
  const bodyOf = (name: string, changes = {}) =>
    JSON.stringify({
      id: newId(),
      name: promoted.name,
      tenantId: newId(),
      subject: 'ada',
      sequence: 1,
      occurredAt: new Date().toISOString(),
      actorId: null,
      actorName: null,
      payload: { name },
      ...changes,
    });
  forger.connection.publish(subject, bodyOf('unsigned'));
  sendMessage(forger, subject, bodyOf('of another key'));
  const genuine = bodyOf('genuine');
  const copied = { headers: signMessage(subjectOf(prefix, other.name), genuine, TEST_KEYS) };
  forger.connection.publish(subject, genuine, copied);
  forger.connection.publish(subject, bodyOf('changed'), {
    headers: signMessage(subject, genuine, TEST_KEYS),
  });
  // A service may publish its own kinds of events only, and none is accepted again after its inbox has forgotten it.
  sendMessage(before, subjectOf(prefix, other.name), bodyOf('of another kind'));
  sendMessage(before, subjectOf(prefix, other.name), bodyOf('\0', { name: other.name }));
  sendMessage(before, subject, bodyOf('replayed', longAgo));
  await forger.connection.flush();
  sendMessage(before, subject, genuine);

  await eventually(() => consumed.length > 0 && seen.includes('genuine'));
  expect(consumed).toEqual(['genuine']);
  // Caches forget something once more.
  expect(seen).toEqual(['replayed', 'genuine']);
  const { rows } = await pool.query('SELECT count(*)::int AS count FROM dead_letter');
  expect(rows).toEqual([{ count: 0 }]);
});
