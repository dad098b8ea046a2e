import { HOST_TENANT_ID } from '@plinth/kernel/caller';
import { currentWork, forRequest } from '@plinth/runtime/process/current-work';
import type { Level } from '../domain/level';
import { snapshotOf, type Snapshot, type StoredLevel } from '../domain/snapshot';
import type { SettingStore } from './setting-store';
import { snapshotCache } from './snapshot-cache';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const NAME = 'Shop.Layout';

/** A level at which a setting has a value, and some are sealed. */
const aLevel = (value: string, sealed: readonly string[] = []): StoredLevel => ({
  values: new Map([[NAME, value]]),
  locked: new Set(),
  sealed: new Set(sealed),
});

/** Reads of levels whose values say whose they are; what was read is noted by its statements. */
const start = (charactersMax?: number) => {
  const statements: string[] = [];
  const levelOf = ({ tenantId, scope, userId }: Level): StoredLevel =>
    aLevel(`${tenantId} ${scope} ${userId}`);
  const readLevel = jest.fn(levelOf);
  const readLevels: SettingStore['readLevels'] = async (_tenantId, levels) => {
    const read = Object.values(levels);
    statements.push(read.map(({ scope, userId }) => `${scope} ${userId}`.trim()).join(', '));
    return Object.fromEntries(read.map((level) => [level.scope, readLevel(level)])) as never;
  };
  const atOnce = { values: 'read at once' } as unknown as Snapshot;
  const readSnapshot = jest.fn(async (_tenantId: string, _userId: string) => atOnce);
  const cache = snapshotCache(
    { readLevels, readSnapshot, toSnapshot: (levels) => snapshotOf(levels, new Map()) },
    charactersMax,
  );
  /** What is read for a user, by statements. */
  const readFor = async (userId: string) => {
    statements.length = 0;
    await cache.of('acme', userId);
    return statements;
  };
  return { readLevel, readSnapshot, atOnce, cache, readFor };
};

const valuesOf = ({ values: { user, tenant, global } }: Snapshot) =>
  [user, tenant, global].map((values) => values.get(NAME));

describe('the cache of snapshots', () => {
  it('has of each level what is set there for the user, for the tenant and for all', async () => {
    const { cache } = start();
    expect(valuesOf(await cache.of('acme', 'ada'))).toEqual(
      ['acme user ada', 'acme tenant', `${HOST_TENANT_ID} global`].map((value) =>
        expect.stringContaining(value),
      ),
    );
  });

  it('reads again what is too old or was made stale, and nothing before', async () => {
    const { cache, readFor } = start();
    expect(await readFor('ada')).toEqual(['user ada', 'tenant, global']);
    expect(await readFor('ada')).toEqual([]);
    expect(await readFor('bob')).toEqual(['user bob']);
    jest.advanceTimersByTime(5_000);
    expect(await readFor('ada')).toEqual(['user ada', 'tenant, global']);
    cache.invalidate({ tenantId: 'acme', scope: 'user', userId: 'ada' });
    expect(await readFor('ada')).toEqual(['user ada']);
    cache.invalidate({ tenantId: 'acme', scope: 'tenant', userId: '' });
    expect(await readFor('ada')).toEqual(['tenant, global']);
    cache.invalidate({ tenantId: HOST_TENANT_ID, scope: 'global', userId: '' });
    expect(await readFor('ada')).toEqual(['tenant, global']);
    cache.invalidate({ tenantId: 'acme', scope: 'user', userId: 'bob' });
    cache.invalidate({ tenantId: 'other', scope: 'tenant', userId: '' });
    expect(await readFor('ada')).toEqual([]);
  });

  it('keeps nothing that was made stale while it was read', async () => {
    const { cache, readFor } = start();
    const first = cache.of('acme', 'ada');
    cache.invalidate({ tenantId: 'acme', scope: 'user', userId: 'ada' });
    await first;
    expect(await readFor('ada')).toEqual(['user ada']);
  });

  it.each([['user'], ['tenant', 'global']])(
    'reads all at one instant where a setting became secret before %s was read',
    async (...later) => {
      const { cache, readLevel, readSnapshot, atOnce } = start();
      readLevel.mockImplementation(({ scope }) => aLevel('', later.includes(scope) ? [NAME] : []));
      expect(await cache.of('acme', 'ada')).toBe(atOnce);
      expect(readSnapshot).toHaveBeenCalledWith('acme', 'ada');
    },
  );

  it('reads for all who wait, not for the request that came first', async () => {
    const { readLevel, cache } = start();
    const signals: (AbortSignal | undefined)[] = [];
    readLevel.mockImplementation(() => {
      signals.push(currentWork().signal);
      return aLevel('');
    });
    const first = new AbortController();
    await forRequest(first.signal, () => cache.of('acme', 'ada'));
    expect(signals).toEqual([undefined, undefined, undefined]);
  });

  it('reads again what is too old, also where the clock was set back', async () => {
    const { readFor } = start();
    await readFor('ada');
    jest.setSystemTime(Date.now() - 3_600_000);
    jest.advanceTimersByTime(5_000);
    expect(await readFor('ada')).toHaveLength(2);
  });

  it('keeps nothing that is too old, however many users and tenants there were', async () => {
    const { cache } = start();
    for (let number = 0; number < 100; number++) {
      await cache.of('acme', `user ${number}`);
      await cache.of(`tenant ${number}`, 'ada');
    }
    // 200 users, and 101 tenants.
    expect(cache.size).toBe(301);
    jest.advanceTimersByTime(5_000);
    await cache.of('acme', 'ada');
    expect(cache.size).toBe(2);
  });

  it('keeps no more than so many characters, of what was read last', async () => {
    const { cache, readLevel, readFor } = start(10_000);
    readLevel.mockImplementation(({ scope }) => aLevel('x'.repeat(scope === 'user' ? 2_000 : 0)));
    for (let number = 0; number < 100; number++) await cache.of('acme', `user ${number}`);
    expect(cache.size).toBeLessThanOrEqual(4);
    expect(await readFor('user 99')).toEqual([]);
    expect(await readFor('user 1')).toEqual(['user user 1']);
  });

  it('keeps nothing that is too much alone, and everything else', async () => {
    const { cache, readLevel, readFor } = start(10_000);
    await cache.of('acme', 'ada');
    readLevel.mockImplementation(() => aLevel('x'.repeat(20_000)));
    await cache.of('other', 'bob');
    expect(await readFor('ada')).toEqual([]);
  });

  it('has a large value of a tenant once, and not for each of its users', async () => {
    const { cache, readLevel } = start(100_000);
    readLevel.mockImplementation(({ scope }) => aLevel('x'.repeat(scope === 'tenant' ? 60_000 : 0)));
    for (let number = 0; number < 100; number++) await cache.of('acme', `user ${number}`);
    expect(cache.size).toBe(101);
  });

  it('counts nothing of what it has forgotten', async () => {
    const { cache, readLevel, readFor } = start(10_000);
    readLevel.mockImplementation(() => aLevel('x'.repeat(2_000)));
    for (let number = 0; number < 100; number++) {
      await cache.of('acme', 'ada');
      cache.invalidate({ tenantId: 'acme', scope: 'user', userId: 'ada' });
      cache.invalidate({ tenantId: 'host', scope: 'global', userId: '' });
    }
    await cache.of('acme', 'ada');
    expect(await readFor('ada')).toEqual([]);
  });

  it('keeps nothing that could not be read', async () => {
    const { readLevel, cache } = start();
    readLevel.mockImplementationOnce(() => {
      throw new Error('away');
    });
    await expect(cache.of('acme', 'ada')).rejects.toThrow('away');
    expect(cache.size).toBe(1);
    expect(valuesOf(await cache.of('acme', 'ada'))[0]).toBe('acme user ada');
  });
});
