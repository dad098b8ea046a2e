import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { eventType } from '@plinth/kernel/event';
import { newId } from '@plinth/kernel/uuid';
import { consumeEvents } from '@plinth/runtime/messaging/consumer';
import { subscription } from '@plinth/runtime/messaging/inbox';
import { connectMessaging, sendMessage, subjectOf } from '@plinth/runtime/messaging/nats';
import { appendToOutbox, startOutboxRelay } from '@plinth/runtime/messaging/outbox';
import { createPool } from '@plinth/runtime/postgres/postgres';
import { closeAll, type Close } from '@plinth/runtime/process/lifecycle';
import { silentLog } from '@plinth/runtime/process/log';
import { eventually } from '@plinth/testing/eventually';
import { findOrInstall } from '@plinth/testing/find-or-install';
import { TEST_KEYS } from '@plinth/testing/http';
import { plainDatabase } from '@plinth/testing/plain-database';
import { createTestDatabase } from '@plinth/testing/test-database';
import { z } from 'zod';

const changed = eventType('settings.setting-changed', z.object({ name: z.string() }));
const log = silentLog();
const closers: Close[] = [];
let server: ChildProcess;
let url: string;

const freePort = async (): Promise<number> => {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as AddressInfo;
  await new Promise((resolve) => listener.close(resolve));
  return port;
};

beforeAll(async () => {
  const [port, monitor] = [await freePort(), await freePort()];
  const store = mkdtempSync(join(tmpdir(), 'nats-users-'));
  const config = join(__dirname, '../../../k8s/nats/plinth.conf');
  const services = [
    'contacts',
    'data-exchange',
    'localization',
    'settings',
    'template',
    'timeline',
    'workflow',
  ];
  const passwords = [...services, 'operator'].map((user) => [
    `NATS_PASSWORD_${user.toUpperCase().replaceAll('-', '_')}`,
    `password-of-${user}`,
  ]);
  const args = ['-c', config, '-a', '127.0.0.1', '-p', String(port), '-m', String(monitor), '-sd', store];
  server = spawn(findOrInstall('nats')!, args, { env: Object.fromEntries(passwords), stdio: 'ignore' });
  url = `nats://127.0.0.1:${port}`;
  closers.push(async () => {
    server.kill();
    await once(server, 'exit');
    rmSync(store, { recursive: true });
  });
});
afterAll(() => closeAll(closers.splice(0), log));

const connectAs = async (user: string) => {
  const messaging = await connectMessaging(
    {
      NATS_URL: url,
      NATS_PREFIX: 'plinth',
      EVENT_KEYS: TEST_KEYS,
      NATS_USER: user,
      NATS_PASSWORD: `password-of-${user}`,
    },
    log,
  );
  closers.push(messaging.close);
  return messaging;
};

const openDatabase = async () => {
  const database = await createTestDatabase('settings');
  closers.push(database.drop);
  const pool = createPool(database.url, log);
  closers.push(() => pool.end());
  return plainDatabase(pool);
};

describe('the users of NATS', () => {
  it('let events flow from the outbox of one service to the consumer of another, reconciliation included', async () => {
    const [settings, timeline] = [await connectAs('settings'), await connectAs('timeline')];
    const [db, received] = [await openDatabase(), [] as string[]];
    const subscriptions = [
      subscription(changed, async (_tx, { payload }) => void received.push(payload.name)),
    ];
    closers.push(await consumeEvents('timeline', subscriptions, await openDatabase(), timeline, log));
    const timing = { pollMilliseconds: 20, reconcileMilliseconds: 50, confirmSeconds: 1 };
    closers.push(startOutboxRelay(db, settings, log, timing).close);
    const tenantId = newId();
    await db.inTenant(tenantId, (tx) =>
      appendToOutbox(tx, { type: changed, tenantId, subject: 'a', payload: { name: 'a' } }),
    );
    await eventually(() => received.length > 0);
    expect(received).toEqual(['a']);
    await eventually(() =>
      db.inPlatform(async (tx) => {
        const rows = await tx.$queryRawUnsafe<object[]>('SELECT FROM outbox WHERE check_at IS NULL');
        return rows.length > 0;
      }),
    );
  });

  it('let nobody publish in the name of another service, read along, or in without a password', async () => {
    const template = await connectAs('template');
    const refusals: string[] = [];
    void (async () => {
      for await (const { type, error } of template.connection.status() as AsyncIterable<{
        type: string;
        error?: Error;
      }>)
        if (type === 'error') refusals.push(String(error?.message));
    })();
    sendMessage(template, subjectOf('plinth', changed.name), '{}');
    template.connection.subscribe('plinth.events.>', { callback: () => {} });
    template.connection.subscribe('_INBOX_timeline.>', { callback: () => {} });
    template.connection.publish('$JS.API.STREAM.DELETE.plinth');
    template.connection.publish('$JS.API.CONSUMER.DELETE.plinth.timeline');
    await eventually(() => refusals.length >= 5);
    expect(refusals.filter((refusal) => !/permissions violation/i.test(refusal))).toEqual([]);
    await expect(connect({ servers: url })).rejects.toThrow(/authorization/i);
    await expect(connect({ servers: url, user: 'settings', pass: 'a guess' })).rejects.toThrow(
      /authorization/i,
    );
  });
});
