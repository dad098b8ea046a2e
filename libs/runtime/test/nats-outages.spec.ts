import { randomUUID } from 'node:crypto';
import { connectMessaging, sendMessage, receiveMessages } from '@plinth/runtime/messaging/nats';
import { closeAll, type Close } from '@plinth/runtime/process/lifecycle';
import { silentLog } from '@plinth/runtime/process/log';
import { eventually } from '@plinth/testing/eventually';
import { TEST_KEYS } from '@plinth/testing/http';
import { infrastructure } from '@plinth/testing/infrastructure';
import { startSilentProxy } from '@plinth/testing/silent-proxy';
import { z } from 'zod';

const opened: Close[] = [];
afterEach(() => closeAll(opened.splice(0), silentLog()));

describe('a NATS that was lost without a word, with its machine', () => {
  it('is left for the one that took its place, and what listens goes on', async () => {
    const proxy = await startSilentProxy(Number(new URL(infrastructure().natsUrl).port));
    opened.push(proxy.close);
    const config = {
      NATS_URL: `nats://127.0.0.1:${proxy.port}`,
      NATS_PREFIX: `test-${randomUUID()}`,
      EVENT_KEYS: TEST_KEYS,
    };
    const messaging = await connectMessaging(config, silentLog(), { pingMilliseconds: 50 });
    opened.push(messaging.close);
    const received: string[] = [];
    opened.push(
      receiveMessages(messaging, config.NATS_PREFIX, z.string(), (text) => void received.push(text)),
    );

    proxy.lose();

    await eventually(async () => {
      await messaging.check();
      sendMessage(messaging, config.NATS_PREFIX, '"back"');
      return received.includes('back');
    });
  });
});
