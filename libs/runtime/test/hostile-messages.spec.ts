import { randomUUID } from 'node:crypto';
import { eventType } from '@plinth/kernel/event';
import { newId } from '@plinth/kernel/uuid';
import {
  missingSubject,
  receiveMessages,
  sendMessage,
  subjectOf,
  subscribeBroadcast,
} from '@plinth/runtime/messaging/nats';
import { closeAll, type Close } from '@plinth/runtime/process/lifecycle';
import { silentLog } from '@plinth/runtime/process/log';
import { connectedMessaging } from '@plinth/testing/connected-messaging';
import { eventually } from '@plinth/testing/eventually';
import { TEST_KEYS } from '@plinth/testing/http';
import { infrastructure } from '@plinth/testing/infrastructure';
import { z } from 'zod';

const opened: Close[] = [];
afterEach(async () => closeAll(opened.splice(0), silentLog()));

const start = async () => {
  const config = {
    NATS_URL: infrastructure().natsUrl,
    NATS_PREFIX: `test-${randomUUID()}`,
    EVENT_KEYS: TEST_KEYS,
  };
  const messaging = await connectedMessaging(config);
  opened.push(messaging.close);
  return messaging;
};

const counted = eventType('tests.counted', z.object({ count: z.int() }));

/** Nothing, no JSON, JSON of another shape, an object that poisons prototypes. */
const hostile = ['', '{', 'null', '[]', '{"tenantId":1}', '{"__proto__":{"payload":{"count":1}}}'];

describe('a message that is not what its subject promises', () => {
  it('is ignored by a broadcast subscription, which receives the next event', async () => {
    const messaging = await start();
    const received: number[] = [];
    opened.push(subscribeBroadcast(messaging, counted, ({ payload }) => received.push(payload.count)));
    const subject = subjectOf(messaging.prefix, counted.name);
    for (const text of hostile) sendMessage(messaging, subject, text);
    sendMessage(messaging, subject, JSON.stringify({ tenantId: newId(), payload: { count: 7 } }));
    await eventually(() => received.length > 0);
    expect(received).toEqual([7]);
    await messaging.check();
  });

  it('does not break the connection of a process that responds to reconciliation', async () => {
    const messaging = await start();
    const received: string[][] = [];
    const subject = missingSubject(messaging.prefix);
    opened.push(
      receiveMessages(messaging, subject, z.array(z.string()), (names) => {
        if (names.includes('throw')) throw new Error('A handler failed.');
        received.push(names);
      }),
    );
    for (const text of [...hostile.slice(0, 3), '["throw"]', '["a"]']) sendMessage(messaging, subject, text);
    await eventually(() => received.length > 0);
    expect(received).toEqual([['a']]);
    await messaging.check();
  });
});
