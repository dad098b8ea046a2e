import { settingsEvents } from '@plinth/contracts/settings/events';
import { subscribeBroadcast } from '@plinth/runtime/messaging/nats';
import { readQueues } from '@plinth/runtime/postgres/store-metrics';
import { connectedMessaging } from '@plinth/testing/connected-messaging';
import { eventually } from '@plinth/testing/eventually';
import { aCaller } from '@plinth/testing/http';
import { infrastructure } from '@plinth/testing/infrastructure';
import { freePort } from '@plinth/testing/free-port';
import { startSilentProxy } from '@plinth/testing/silent-proxy';
import { createTestDatabase } from '@plinth/testing/test-database';
import { Client } from 'pg';
import { startSettings } from './start-settings';

const CULTURE = '/settings/user/Service.Localization.PreferredCulture';

describe('two replicas of the settings service', () => {
  afterEach(() => jest.restoreAllMocks());

  it('both serve a new value as soon as one of them has stored it', async () => {
    const first = await startSettings();
    const second = await startSettings({ databaseUrl: first.databaseUrl, natsPrefix: first.natsPrefix });
    // NATS has done what it was asked to before: it knows that the second one listens.
    await eventually(async () => (await second.health.readiness()).parts['nats'] === 'up');
    const caller = aCaller();
    const value = async () => (await second.as(caller).get(CULTURE)).body.value;

    // No snapshot expires while the clock stands still: only the message can make it so.
    jest.spyOn(performance, 'now').mockReturnValue(performance.now());
    expect(await value()).toBeNull();
    await first.as(caller).put(CULTURE, { value: 'fr' });
    await eventually(async () => (await value()) === 'fr');

    await second.close();
    await first.close();
  });

  it('publish an event for every change, without the value', async () => {
    const service = await startSettings();
    const messaging = await connectedMessaging(service.config);
    const received: unknown[] = [];
    const close = subscribeBroadcast(messaging, settingsEvents.userSettingChanged, (event) =>
      received.push(event),
    );
    await messaging.check();

    const caller = aCaller();
    await service.as(caller).put(CULTURE, { value: 'fr' });

    const event = await eventually(() => received[0]);
    expect(event).toMatchObject({
      name: 'settings.user-setting-changed',
      tenantId: caller.tenantId,
      actorId: caller.userId,
      payload: { scope: 'user', userId: caller.userId, names: ['Service.Localization.PreferredCulture'] },
    });
    await close();
    await messaging.close();
    await service.close();
  });
});

describe('a replica that does not reach NATS', () => {
  const open = (port?: number) => startSilentProxy(Number(new URL(infrastructure().natsUrl).port), port);

  it.each(['after', 'before'])(
    'is ready and stores changes, whose events wait in its outbox, where NATS went %s its start',
    async (when) => {
      const proxy = await open();
      if (when === 'before') proxy.close();
      const service = await startSettings({ environment: { NATS_URL: `nats://127.0.0.1:${proxy.port}` } });
      proxy.close();

      await eventually(async () => {
        const { ready, parts } = await service.health.readiness();
        return ready && parts['nats'] === 'down';
      });
      const { status } = await service.as(aCaller()).put(CULTURE, { value: 'fr' });
      expect(status).toBe(204);
      expect((await readQueues(service.pool)).unpublished).toBe(1);

      const again = await open(proxy.port);
      await eventually(async () => (await readQueues(service.pool)).unpublished === 0);
      await service.close();
      again.close();
    },
  );
});

describe('a replica whose database takes no writes for a while', () => {
  it('is ready, reads, says what is wrong, and writes as soon as connections lead to one that does', async () => {
    const database = await createTestDatabase('settings');
    const name = new URL(database.url).pathname.slice(1);
    const options = '-c default_transaction_read_only=off';
    const admin = new Client({ connectionString: database.adminUrl, options });
    await admin.connect();
    /** Of the connections that are opened from now on, as where the address leads to another server. */
    const setReadOnly = (value: 'on' | 'off') =>
      admin.query(`ALTER DATABASE ${name} SET default_transaction_read_only = ${value}`);
    const breakConnections = () =>
      admin.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE datname = current_database() AND pid <> pg_backend_pid()`,
      );
    const service = await startSettings({ databaseUrl: database.url });
    const caller = service.as(aCaller());
    const put = async () => (await caller.put(CULTURE, { value: 'fr' })).status;
    const partsOf = async () => (await service.health.readiness()).parts;

    await setReadOnly('on');
    await breakConnections();
    await eventually(async () => {
      const { ready, parts } = await service.health.readiness();
      return ready && parts['postgres'] === 'up' && parts['postgres-writes'] === 'down';
    });
    expect(await put()).toBe(503);
    expect((await caller.get(CULTURE)).status).toBe(200);

    await setReadOnly('off');
    expect(await put()).toBe(204);
    await eventually(async () => (await partsOf())['postgres-writes'] === 'up');
    await service.close();
    await admin.end();
    await database.drop();
  });
});

describe('a replica that starts while its database is away', () => {
  it('goes on when that is back, with the settings of the platform', async () => {
    const database = await createTestDatabase('settings');
    const url = new URL(database.url);
    const serverPort = Number(url.port);
    const away = await startSilentProxy(serverPort);
    away.close();
    url.port = String(away.port);
    const ADMIN_PORT = await freePort();
    const environment = { HTTP_HOST: '127.0.0.1', ADMIN_PORT: String(ADMIN_PORT) };
    const started = startSettings({ databaseUrl: url.href, environment });
    const ready = await eventually(() => fetch(`http://127.0.0.1:${ADMIN_PORT}/readyz`));
    expect(await ready.json()).toMatchObject({ ready: false, parts: { postgres: 'down' } });

    const proxy = await startSilentProxy(serverPort, away.port);

    const service = await started;
    await eventually(async () => {
      expect(await service.as(aCaller()).get(CULTURE)).toMatchObject({ status: 200, body: { value: null } });
      return true;
    });
    await eventually(async () => (await service.health.readiness()).ready);
    await service.close();
    proxy.close();
    await database.drop();
  });
});
