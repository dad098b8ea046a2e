import { aCaller } from '@plinth/testing/http';
import { eventually } from '@plinth/testing/eventually';
import { recordOverridesChanged } from '../src/store/override-changes';
import { startLocalization, type Localization } from './start-localization';

/** The clock of the replicas, which get it when they start. */
const now = Date.now;
let clock: jest.SpiedFunction<typeof Date.now>;
let first: Localization;
let second: Localization;
let disconnected: Localization;
beforeAll(async () => {
  clock = jest.spyOn(Date, 'now');
  first = await startLocalization();
  const { databaseUrl, natsPrefix } = first;
  second = await startLocalization({ databaseUrl, natsPrefix });
  // It uses other NATS subjects, so it misses the messages of the others.
  disconnected = await startLocalization({ databaseUrl });
});
afterAll(async () => {
  await disconnected.close();
  await second.close();
  await first.close();
  clock.mockRestore();
});
afterEach(() => void clock.mockImplementation(now));

const address = '/localization/overrides/Shop/en/title';
const titleAt = async (replica: Localization, caller: ReturnType<typeof aCaller>) =>
  (await replica.as(caller).get('/localization?cultureName=en')).body.resources.Shop?.title;

describe('two replicas of the localization service', () => {
  it('both show a change as soon as they are told of it, and immediately where it was made', async () => {
    const caller = aCaller();
    // No time passes after which they would look for changes by themselves.
    clock.mockReturnValue(now());
    for (const title of ['one', 'two', 'three']) {
      await titleAt(second, caller);
      await first.as(caller).put(address, { value: title });
      expect(await titleAt(first, caller)).toBe(title);
      await eventually(async () => (await titleAt(second, caller)) === title);
    }
  });

  it('both show a removal and a batch', async () => {
    const caller = aCaller();
    await first.as(caller).put(address, { value: 'one' });
    await eventually(async () => (await titleAt(second, caller)) === 'one');

    await second.as(caller).delete(address);
    await eventually(async () => (await titleAt(first, caller)) === undefined);

    const items = [{ resourceName: 'Shop', cultureName: 'en', key: 'title', value: 'batch' }];
    await first.as(caller).put('/localization/overrides', { items });
    await eventually(async () => (await titleAt(second, caller)) === 'batch');
  });

  it('agree within 5 s also when a broadcast is lost', async () => {
    const caller = aCaller();
    expect(await titleAt(disconnected, caller)).toBeUndefined();
    await first.as(caller).put(address, { value: 'missed' });

    clock.mockReturnValue(now() + 5_000);
    expect(await titleAt(disconnected, caller)).toBe('missed');
  });
});

describe('a long import of overrides', () => {
  it('does not block changes of other texts of the same tenant', async () => {
    const caller = aCaller();
    let end = (): void => {};
    let begun = (): void => {};
    const isBegun = new Promise<void>((resolve) => (begun = resolve));
    const importing = first.db!.inTenant(caller.tenantId, async (tx) => {
      await recordOverridesChanged(tx, caller, [{ resourceName: 'Shop', cultureName: 'fr' }]);
      begun();
      await new Promise<void>((resolve) => (end = resolve));
    });
    await isBegun;

    expect((await first.as(caller).put(address, { value: 'meanwhile' })).status).toBe(204);
    const before = await first.overrides!.version(caller.tenantId);
    end();
    await importing;
    const after = await first.overrides!.version(caller.tenantId);
    expect(after).not.toBe(before);

    await first.as(caller).put(address, { value: 'later' });
    expect((await first.overrides!.version(caller.tenantId)).split(' ')).toHaveLength(1);
  });
});
