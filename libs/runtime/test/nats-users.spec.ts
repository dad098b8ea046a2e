import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { eventType } from '@plinth/kernel/event';
import { newId } from '@plinth/kernel/uuid';
import { consumeEvents } from '@plinth/runtime/messaging/consumer';
import { subscription } from '@plinth/runtime/messaging/subscription';
import { sendMessage, subjectOf, subscribeBroadcast } from '@plinth/runtime/messaging/nats';
import { appendToOutbox, startOutboxRelay } from '@plinth/runtime/messaging/outbox';
import { signMessage } from '@plinth/runtime/messaging/signed-message';
import { createPool } from '@plinth/runtime/postgres/postgres';
import { closeAll, type Close } from '@plinth/runtime/process/lifecycle';
import { silentLog } from '@plinth/runtime/process/log';
import { connectedMessaging } from '@plinth/testing/connected-messaging';
import { eventually } from '@plinth/testing/eventually';
import { TEST_KEYS } from '@plinth/testing/http';
import {
  collectRefusals,
  natsServices,
  startNatsWithUsers,
  type NatsWithUsers,
} from '@plinth/testing/nats-with-users';
import { plainDatabase } from '@plinth/testing/plain-database';
import { createTestDatabase } from '@plinth/testing/test-database';
import { z } from 'zod';

const changed = eventType('settings.setting-changed', z.object({ name: z.string() }));
const log = silentLog();
const closers: Close[] = [];
let server: NatsWithUsers;

beforeAll(async () => {
  server = await startNatsWithUsers();
  closers.push(server.stop);
});
afterAll(() => closeAll(closers.splice(0), log));

const connectAs = async (user: string) => {
  const messaging = await connectedMessaging(server.configOf(user));
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

  it('do not let a service change the bound of the stream, which is no reason not to start', async () => {
    const { connection } = await connectAs('operator');
    const { streams } = await jetstreamManager(connection);
    const config = { ...server.configOf('settings'), NATS_STREAM_BYTES_MAX: 65_536 };
    const messaging = await connectedMessaging(config);
    closers.push(messaging.close);

    expect(messaging.connecting).toBeUndefined();
    expect((await streams.info('plinth')).config.max_bytes).toBe(-1);
  });

  it.each(natsServices)('let %s publish its own events', async (service) => {
    const { connection, jetstream } = await connectAs(service);
    const refusals = collectRefusals(connection);
    await jetstream.publish(`plinth.events.${service}.something-happened`, '{}');
    expect(refusals).toEqual([]);
  });

  it.each(natsServices)(
    'let %s neither publish in the name of another, nor read along or change what is there',
    async (service) => {
      const messaging = await connectAs(service);
      const { connection } = messaging;
      const other = service === 'template' ? 'settings' : 'template';
      const reader = service === 'timeline' ? 'workflow' : 'timeline';
      const refusals = collectRefusals(connection);
      sendMessage(messaging, subjectOf('plinth', `${other}.saved`), '{}');
      connection.publish(`plinth.${reader}.told`);
      for (const subject of [
        'plinth.events.>',
        `plinth.events.${other}.>`,
        `_INBOX_${other}.>`,
        '$JS.API.>',
        '>',
      ])
        connection.subscribe(subject, { callback: () => {} });
      for (const request of [
        'STREAM.DELETE.plinth',
        'STREAM.UPDATE.plinth',
        'STREAM.PURGE.plinth',
        'STREAM.MSG.GET.plinth',
        'DIRECT.GET.plinth',
        `CONSUMER.DELETE.plinth.${reader}_template_published`,
        'CONSUMER.MSG.NEXT.plinth.timeline_localization_override-changed',
        // Consumers that name what they read elsewhere than in the subject.
        'CONSUMER.CREATE.plinth',
        `CONSUMER.CREATE.plinth.${service}`,
        `CONSUMER.CREATE.plinth.${service}_template_published`,
        `CONSUMER.DURABLE.CREATE.plinth.${service}`,
        // Nobody subscribes to this event but its own service.
        `CONSUMER.CREATE.plinth.${service}_localization_override-changed.plinth.events.localization.override-changed`,
      ])
        connection.publish(`$JS.API.${request}`);
      await connection.flush();
      await eventually(() => refusals.length >= 19);
      expect(refusals.filter((refusal) => !/permissions violation/i.test(refusal))).toEqual([]);
      expect(refusals).toHaveLength(19);
    },
  );

  it('let no consumer read other subjects than its request names', async () => {
    const { connection } = await connectAs('timeline');
    const allowed = 'plinth.events.template.published';
    const secret = 'plinth.events.settings.api-key-created';
    const name = 'timeline_template_published';
    const create = async (filters: object): Promise<unknown> => {
      const config = { durable_name: name, ack_policy: 'explicit', ...filters };
      const request = JSON.stringify({ stream_name: 'plinth', config, action: '' });
      const response = await connection.request(`$JS.API.CONSUMER.CREATE.plinth.${name}.${allowed}`, request);
      return response.json<{ error?: unknown }>().error;
    };

    expect(await create({ filter_subject: secret })).toBeDefined();
    expect(await create({ filter_subjects: [allowed, secret] })).toBeDefined();
    expect(await create({ filter_subject: allowed, filter_subjects: [secret] })).toBeDefined();
    expect(await create({})).toBeDefined();
    expect(await create({ filter_subject: allowed })).toBeUndefined();

    const operator = await connect({ servers: server.url, user: 'operator', pass: 'password-of-operator' });
    closers.push(() => operator.close());
    const manager = await jetstreamManager(operator);
    const { config } = await manager.consumers.info('plinth', name);
    expect(config.filter_subject).toBe(allowed);
  });

  it('let no service have its messages delivered as those of another', async () => {
    const [timeline, settings] = [await connectAs('timeline'), await connectAs('settings')];
    const seen: string[] = [];
    closers.push(subscribeBroadcast(settings, changed, ({ payload }) => seen.push(payload.name)));
    await settings.connection.flush();
    const own = 'plinth.events.timeline.notifications-due';
    const consumer = 'timeline_timeline_notifications-due';
    const config = { durable_name: consumer, ack_policy: 'explicit', filter_subject: own };
    await timeline.connection.request(
      `$JS.API.CONSUMER.CREATE.plinth.${consumer}.${own}`,
      JSON.stringify({ stream_name: 'plinth', config, action: '' }),
    );
    const bodyOf = (name: string) => JSON.stringify({ tenantId: newId(), payload: { name } });
    const forged = bodyOf('forged');
    await timeline.jetstream.publish(own, forged, { headers: signMessage(own, forged, TEST_KEYS) });

    const to = subjectOf('plinth', changed.name);
    timeline.connection.publish(`$JS.API.CONSUMER.MSG.NEXT.plinth.${consumer}`, '', { reply: to });
    await eventually(async () => {
      const { delivered } = await (await timeline.jetstream.consumers.get('plinth', consumer)).info();
      return delivered.consumer_seq > 0;
    });
    sendMessage(settings, to, bodyOf('genuine'));
    await eventually(() => seen.length > 0);
    expect(seen).toEqual(['genuine']);
  });

  it('let nobody in without a password', async () => {
    await expect(connect({ servers: server.url })).rejects.toThrow(/authorization/i);
    await expect(connect({ servers: server.url, user: 'settings', pass: 'a guess' })).rejects.toThrow(
      /authorization/i,
    );
  });
});
