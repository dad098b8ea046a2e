import { randomUUID } from 'node:crypto';
import { createServer, type AddressInfo } from 'node:net';
import { jetstreamManager } from '@nats-io/jetstream';
import { connectMessaging, sendMessage, receiveMessages } from '@plinth/runtime/messaging/nats';
import { connectedMessaging } from '@plinth/testing/connected-messaging';
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

  it('does not keep a process from its end', async () => {
    const proxy = await startSilentProxy(Number(new URL(infrastructure().natsUrl).port));
    const config = {
      NATS_URL: `nats://127.0.0.1:${proxy.port}`,
      NATS_PREFIX: `test-${randomUUID()}`,
      EVENT_KEYS: TEST_KEYS,
    };
    const messaging = await connectMessaging(config, silentLog(), {
      pingMilliseconds: 600_000,
      drainMilliseconds: 50,
    });
    receiveMessages(messaging, config.NATS_PREFIX, z.string(), () => undefined);
    proxy.lose();

    await messaging.close();

    expect(messaging.connection.isClosed()).toBe(true);
    proxy.close();
  });
});

describe('a NATS that is away when a process starts', () => {
  it('is connected to when it comes, with everything that listens and wants events', async () => {
    const port = Number(new URL(infrastructure().natsUrl).port);
    const proxy = await startSilentProxy(port);
    proxy.close();
    const config = {
      NATS_URL: `nats://127.0.0.1:${proxy.port}`,
      NATS_PREFIX: `test-${randomUUID()}`,
      EVENT_KEYS: TEST_KEYS,
    };
    const messaging = await connectMessaging(config, silentLog(), { startMilliseconds: 10 });
    opened.push(messaging.close);
    const received: string[] = [];
    opened.push(
      receiveMessages(messaging, config.NATS_PREFIX, z.string(), (text) => void received.push(text)),
    );
    await expect(messaging.check()).rejects.toThrow('NATS has not been there');
    sendMessage(messaging, config.NATS_PREFIX, '"nobody"');

    opened.push((await startSilentProxy(port, proxy.port)).close);

    await messaging.connecting;
    sendMessage(messaging, config.NATS_PREFIX, '"back"');
    await eventually(() => received.includes('back'));
    expect(received).toEqual(['back']);
    const { config: stream } = await (
      await jetstreamManager(messaging.connection)
    ).streams.info(config.NATS_PREFIX);
    expect(stream.subjects).toEqual([`${config.NATS_PREFIX}.events.>`]);
  });

  it('is no longer looked for by a process that never saw it and ends', async () => {
    const [ended, other] = [await startLosing(), await startLosing()];
    const messaging = await connectTo(ended.port);
    const stopReceiving = receiveMessages(messaging, 'test', z.string(), () => undefined);
    await eventually(() => ended.attempts() > 0);
    await stopReceiving();
    await messaging.close();
    const before = ended.attempts();

    opened.push((await connectTo(other.port)).close);
    await eventually(() => other.attempts() > 4);
    // One may have been on its way.
    expect(ended.attempts()).toBeLessThanOrEqual(before + 1);
  });

  const connectTo = (port: number) =>
    connectMessaging(
      { NATS_URL: `nats://127.0.0.1:${port}`, NATS_PREFIX: 'test', EVENT_KEYS: TEST_KEYS },
      silentLog(),
      { startMilliseconds: 10 },
    );

  /** A server that closes each connection at once, and how often it was tried. */
  const startLosing = async () => {
    let attempts = 0;
    const server = createServer((socket) => {
      attempts++;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    opened.push(() => void server.close());
    return { port: (server.address() as AddressInfo).port, attempts: () => attempts };
  };
});

describe('a stream of events that may need more room than the server has', () => {
  it('is made without a bound of its own', async () => {
    const config = {
      NATS_URL: infrastructure().natsUrl,
      NATS_PREFIX: `test-${randomUUID()}`,
      EVENT_KEYS: TEST_KEYS,
      NATS_STREAM_BYTES_MAX: 2 ** 52,
    };
    const messaging = await connectedMessaging(config);
    opened.push(messaging.close);

    expect(messaging.connecting).toBeUndefined();
    const { streams } = await jetstreamManager(messaging.connection);
    expect((await streams.info(config.NATS_PREFIX)).config.max_bytes).toBe(-1);
  });
});

describe('a stream of events that is there already', () => {
  const NATS_PREFIX = `test-${randomUUID()}`;
  const connectWith = async (streamBytesMax?: number) => {
    const config = {
      NATS_URL: infrastructure().natsUrl,
      NATS_PREFIX,
      EVENT_KEYS: TEST_KEYS,
      NATS_STREAM_BYTES_MAX: streamBytesMax,
    };
    const messaging = await connectedMessaging(config);
    opened.push(messaging.close);
    expect(messaging.connecting).toBeUndefined();
    const { streams } = await jetstreamManager(messaging.connection);
    return { messaging, streams, config: (await streams.info(NATS_PREFIX)).config };
  };

  it('gets the bound that is configured, as long as it drops nothing by that, and keeps what else its operator gave it', async () => {
    const { streams } = await connectWith();
    await streams.update(NATS_PREFIX, { description: 'ours' });
    expect((await connectWith(65_536)).config).toMatchObject({ max_bytes: 65_536, description: 'ours' });
    const { messaging, config } = await connectWith(131_072);
    expect(config).toMatchObject({ max_bytes: 131_072, description: 'ours' });
    expect((await connectWith(32_768)).config.max_bytes).toBe(32_768);

    await messaging.jetstream.publish(`${NATS_PREFIX}.events.a`, 'x'.repeat(8_192));
    expect((await connectWith(4_096)).config.max_bytes).toBe(32_768);
    // The server has less room.
    expect((await connectWith(2 ** 52)).config.max_bytes).toBe(32_768);
  });
});

describe('a stream of events with other settings than ours', () => {
  it('is used as its operator left it', async () => {
    const config = {
      NATS_URL: infrastructure().natsUrl,
      NATS_PREFIX: `test-${randomUUID()}`,
      EVENT_KEYS: TEST_KEYS,
    };
    const first = await connectedMessaging(config);
    opened.push(first.close);
    const { streams } = await jetstreamManager(first.connection);
    await streams.update(config.NATS_PREFIX, { max_bytes: 10_000_000 });

    const messaging = await connectedMessaging(config);
    opened.push(messaging.close);

    expect(messaging.connecting).toBeUndefined();
    expect((await streams.info(config.NATS_PREFIX)).config.max_bytes).toBe(10_000_000);
  });
});
