import { settingsEvents } from '@plinth/contracts/settings/events';
import { subscribeBroadcast, connectMessaging } from '@plinth/runtime/messaging/nats';
import { silentLog } from '@plinth/runtime/process/log';
import { eventually } from '@plinth/testing/eventually';
import { aCaller } from '@plinth/testing/http';
import { startSettings } from './start-settings';

const CULTURE = '/settings/user/Service.Localization.PreferredCulture';

describe('two replicas of the settings service', () => {
  it('both serve a new value as soon as one of them has stored it', async () => {
    const first = await startSettings();
    const second = await startSettings({ databaseUrl: first.databaseUrl, natsPrefix: first.natsPrefix });
    const caller = aCaller();
    const value = async () => (await second.as(caller).get(CULTURE)).body.value;

    expect(await value()).toBeNull();
    await first.as(caller).put(CULTURE, { value: 'fr' });
    // Well below the five seconds after which a snapshot expires: only the message can make it so soon.
    await eventually(async () => (await value()) === 'fr', 2_000);

    await second.close();
    await first.close();
  });

  it('publish an event for every change, without the value', async () => {
    const service = await startSettings();
    const messaging = await connectMessaging(service.config, silentLog());
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
