import { turnsAt } from '@plinth/runtime/process/fair-places';
import type { Override } from '../domain/texts';
import type { FirstTexts } from './override-store';
import { textCache } from './text-cache';

const ada = '00000000-0000-7000-8000-0000000000aa';
const bob = '00000000-0000-7000-8000-0000000000bb';

/** Stands for the database, and counts how often it is read. */
function aStore() {
  const store = {
    versions: { [ada]: 'first', [bob]: 'first' } as Record<string, string>,
    titles: {} as Record<string, string>,
    /** Resolved when a reading may continue. */
    gate: Promise.resolve(),
    readings: 0,
    version: async (tenantId: string) => store.versions[tenantId]!,
    cultures: async () => ['de'],
    inCultures: async (tenantId: string): Promise<FirstTexts<Override>> => {
      store.readings++;
      const value = store.titles[tenantId] ?? tenantId;
      await store.gate;
      return { texts: [{ resourceName: 'Shop', cultureName: 'en', key: 'title', value }], areAll: true };
    },
    change: (tenantId: string, title: string) => {
      store.titles[tenantId] = title;
      store.versions[tenantId] += ' next';
    },
  };
  return store;
}

function start(options: { sizeMax?: number } = {}) {
  const store = aStore();
  const time = { now: 0 };
  const cache = textCache({ base: {}, overrides: store, now: () => time.now, ...options });
  const title = async (tenantId: string, culture = 'en') =>
    (await cache.read(tenantId, culture)).resources['Shop']!['title'];
  return { store, time, cache, title };
}

describe('the cache of texts', () => {
  it('reads a tenant and a culture once, and knows its cultures', async () => {
    const { store, cache, title } = start();
    await Promise.all([title(ada), title(ada), title(ada)]);
    expect(store.readings).toBe(1);
    expect([...(await cache.cultures(ada))]).toEqual(['fr', 'fr-CA', 'en', 'en-GB', 'de']);
  });

  it('invalidates one tenant at a time', async () => {
    const { store, cache, title } = start();
    await Promise.all([title(ada), title(bob)]);
    store.change(ada, 'new');
    cache.invalidate(ada);
    expect([await title(ada), await title(bob)]).toEqual(['new', bob]);
    expect(store.readings).toBe(3);
  });

  it('does not cache texts whose reading began before a change', async () => {
    const { store, cache, title } = start();
    let resume = (): void => {};
    store.gate = new Promise((resolve) => (resume = resolve));
    const before = title(ada);
    await new Promise((resolve) => setImmediate(resolve));
    store.change(ada, 'new');
    cache.invalidate(ada);
    resume();
    expect(await before).toBe(ada);
    expect(await title(ada)).toBe('new');
  });

  it('finds a change whose broadcast was lost by the version, after two seconds', async () => {
    const { store, time, title } = start();
    await title(ada);
    store.change(ada, 'new');
    time.now = 1_999;
    expect(await title(ada)).toBe(ada);
    time.now = 2_000;
    expect(await title(ada)).toBe('new');
  });

  it('reads nothing again while the version is the same', async () => {
    const { store, time, title } = start();
    await title(ada);
    time.now = 10_000;
    await title(ada);
    expect(store.readings).toBe(1);
  });

  it('does not cache errors', async () => {
    const { store, cache, title } = start();
    const { version } = store;
    store.version = () => Promise.reject(new Error('away'));
    await expect(title(ada)).rejects.toThrow('away');
    await expect(cache.cultures(ada)).rejects.toThrow('away');
    store.version = version;
    expect(await title(ada)).toBe(ada);
  });

  it('evicts the least recently used tenants when it is full', async () => {
    const { store, title } = start({ sizeMax: 5_000 });
    const tenants = Array.from({ length: 20 }, (_, index) => `tenant ${index}`);
    for (const tenant of tenants) store.versions[tenant] = 'first';
    for (const tenant of tenants) expect(await title(tenant)).toBe(tenant);
    expect(store.readings).toBe(20);
    await title(tenants[19]!);
    expect(store.readings).toBe(20);
    await title(tenants[0]!);
    expect(store.readings).toBe(21);
  });

  it('keeps the texts of other tenants whatever number of cultures one reads, and those that it read last', async () => {
    const { store, title } = start({ sizeMax: 10_000 });
    await title(bob);
    for (let index = 0; index < 200; index++) await title(ada, `en-x-${index}`);
    expect(store.readings).toBe(201);
    await title(bob);
    await title(ada, 'en-x-199');
    expect(store.readings).toBe(201);
    await title(ada, 'en-x-0');
    expect(store.readings).toBe(202);
  });

  it('evicts by the number of texts too: they take memory however short they are', async () => {
    const { store, cache } = start({ sizeMax: 100_000 });
    const texts = Array.from({ length: 1_000 }, (_, index) => ({
      resourceName: 'S',
      cultureName: 'en',
      key: index.toString(36),
      value: '',
    }));
    store.inCultures = async () => {
      store.readings++;
      return { texts, areAll: true };
    };
    for (const tenant of [ada, bob, ada]) await cache.read(tenant, 'en');
    expect(store.readings).toBe(3);
  });

  it('makes very many texts in steps, between which everybody else in the process is served', async () => {
    const { store, cache } = start();
    const texts = Array.from({ length: 20_000 }, (_, at) => ({
      resourceName: 'Shop',
      cultureName: 'en',
      key: `key ${at}`,
      value: 'a text of some words',
    }));
    store.inCultures = async () => ({ texts, areAll: true });
    let loops = 0;
    let isRead = false;
    const countLoops = (): void => {
      loops++;
      if (!isRead) setImmediate(countLoops);
    };
    setImmediate(countLoops);
    const { resources } = await cache.read(ada, 'en');
    isRead = true;
    expect(Object.keys(resources['Shop']!)).toHaveLength(20_000);
    // A step for each thousand texts that are merged, and for each 64 kB of their JSON.
    expect(loops).toBeGreaterThanOrEqual(30);
  });

  it('reads texts of no more tenants than it makes texts of', async () => {
    const { store, cache } = start();
    const texts = Array.from({ length: 3_000 }, (_, at) => ({
      resourceName: 'Shop',
      cultureName: 'en',
      key: `key ${at}`,
      value: 'a text of some words',
    }));
    const tenants = Array.from({ length: 20 }, (_, index) => `tenant ${index}`);
    for (const tenant of tenants) store.versions[tenant] = 'first';
    let atOnce = 0;
    let mostAtOnce = 0;
    store.inCultures = async () => {
      mostAtOnce = Math.max(mostAtOnce, ++atOnce);
      return { texts, areAll: true };
    };
    await Promise.all(tenants.map((tenant) => cache.read(tenant, 'en').finally(() => atOnce--)));
    // Two, and as many whose end is not known here yet.
    expect(mostAtOnce).toBeLessThanOrEqual(4);
  });

  it('reads the texts of whoever waits first of all before those of tenants that read something', async () => {
    const { store } = start();
    const tenants = ['acme', 'globex', 'initech'];
    for (const tenant of tenants) store.versions[tenant] = 'first';
    const read: string[] = [];
    const { inCultures } = store;
    store.inCultures = (tenantId) => {
      read.push(tenantId);
      return inCultures(tenantId);
    };
    const readings = turnsAt(2);
    const cache = textCache({ base: {}, overrides: store, readings });
    const ends: (() => void)[] = [];
    for (const tenantId of tenants.slice(0, 2))
      void readings.run({ tenantId, userId: '' }, () => new Promise<void>((resolve) => ends.push(resolve)));
    const all = tenants.map((tenant) => cache.read(tenant, 'en'));
    await new Promise(setImmediate);
    expect(read).toEqual([]);
    ends[0]!();
    await all[2];
    ends[1]!();
    await Promise.all(all);
    expect(read[0]).toBe('initech');
  });

  it('shares the texts of the platform between tenants that have none of their own', async () => {
    const { store, cache } = start();
    store.inCultures = async () => ({ texts: [], areAll: true });
    const [ofAda, ofBob] = await Promise.all([cache.read(ada, 'fr'), cache.read(bob, 'fr')]);
    expect(ofAda).toBe(ofBob);
    expect(await cache.read(ada, 'fr')).toBe(ofAda);
    expect(await cache.read(ada, 'en')).not.toBe(await cache.read(ada, 'fr'));
  });

  it('reads the texts of a tenant one after the other, with a rest that no other tenant waits for', async () => {
    const rests: (() => void)[] = [];
    const read: string[] = [];
    const texts = textCache({
      base: {},
      overrides: {
        version: () => Promise.resolve(''),
        cultures: () => Promise.resolve(['fr', 'de']),
        inCultures: (tenantId, [cultureName]) => {
          read.push(`${tenantId} ${cultureName}`);
          const own = { resourceName: 'Shop', cultureName: cultureName!, key: 'pay', value: 'x' };
          return Promise.resolve({ texts: [own], areAll: true });
        },
      },
      rest: () => new Promise((resolve) => rests.push(resolve)),
    });
    await texts.read('acme', 'fr');
    const next = [texts.read('acme', 'de'), texts.read('acme', 'en')];
    texts.invalidate('acme');
    next.push(texts.read('acme', 'fr'));
    await texts.read('globex', 'fr');
    expect(read).toEqual(['acme fr', 'globex fr']);

    rests[0]!();
    await next[0];
    expect(read).toEqual(['acme fr', 'globex fr', 'acme de']);
    rests[2]!();
    await next[1];
    rests[3]!();
    await next[2];
    expect(read.slice(3)).toEqual(['acme en', 'acme fr']);
  });
});
