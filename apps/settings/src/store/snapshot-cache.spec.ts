import { HOST_TENANT_ID } from '@plinth/kernel/caller';
import { currentWork, forRequest } from '@plinth/runtime/process/current-work';
import type { Level } from '../domain/level';
import { snapshotOf, type Snapshot, type StoredLevel } from '../domain/snapshot';
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

/** Reads of levels whose values say whose they are; what was read of each is counted. */
const start = (charactersMax?: number) => {
  const readLevel = jest.fn(async ({ tenantId, scope, userId }: Level) =>
    aLevel(`${tenantId} ${scope} ${userId}`),
  );
  const readSnapshot = jest.fn(async (_tenantId: string, _userId: string) => atOnce);
  const atOnce = { values: 'read at once' } as unknown as Snapshot;
  const cache = snapshotCache(
    { readLevel, readSnapshot, toSnapshot: (levels) => snapshotOf(levels, new Map()) },
    charactersMax,
  );
  const reads = () => readLevel.mock.calls.map(([{ scope, userId }]) => `${scope} ${userId}`.trim());
  return { readLevel, readSnapshot, atOnce, cache, reads };
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

  it('reads a level again when it is too old or was made stale, and not before', async () => {
    const { cache, reads, readLevel } = start();
    const readOf = async (userId: string) => {
      readLevel.mockClear();
      await cache.of('acme', userId);
      return reads();
    };
    expect(await readOf('ada')).toEqual(['user ada', 'tenant', 'global']);
    expect(await readOf('ada')).toEqual([]);
    expect(await readOf('bob')).toEqual(['user bob']);
    jest.advanceTimersByTime(5_000);
    expect(await readOf('ada')).toEqual(['user ada', 'tenant', 'global']);
    cache.invalidate({ tenantId: 'acme', scope: 'user', userId: 'ada' });
    expect(await readOf('ada')).toEqual(['user ada']);
    cache.invalidate({ tenantId: 'acme', scope: 'tenant', userId: '' });
    expect(await readOf('ada')).toEqual(['tenant']);
    cache.invalidate({ tenantId: HOST_TENANT_ID, scope: 'global', userId: '' });
    expect(await readOf('ada')).toEqual(['global']);
    cache.invalidate({ tenantId: 'acme', scope: 'user', userId: 'bob' });
    cache.invalidate({ tenantId: 'other', scope: 'tenant', userId: '' });
    expect(await readOf('ada')).toEqual([]);
  });

  it('keeps nothing that was made stale while it was read', async () => {
    const { cache, readLevel, reads } = start();
    const first = cache.of('acme', 'ada');
    cache.invalidate({ tenantId: 'acme', scope: 'user', userId: 'ada' });
    await first;
    readLevel.mockClear();
    await cache.of('acme', 'ada');
    expect(reads()).toEqual(['user ada']);
  });

  it.each(['user', 'tenant', 'global'])(
    'reads all at one instant where a setting became secret before the level %s was read',
    async (later) => {
      const { cache, readLevel, readSnapshot, atOnce } = start();
      readLevel.mockImplementation(async ({ scope }) => aLevel('', scope === later ? [NAME] : []));
      expect(await cache.of('acme', 'ada')).toBe(atOnce);
      expect(readSnapshot).toHaveBeenCalledWith('acme', 'ada');
    },
  );

  it('reads for all who wait, not for the request that came first', async () => {
    const { readLevel, cache } = start();
    const signals: (AbortSignal | undefined)[] = [];
    readLevel.mockImplementation(async () => {
      signals.push(currentWork().signal);
      return aLevel('');
    });
    const first = new AbortController();
    await forRequest(first.signal, () => cache.of('acme', 'ada'));
    expect(signals).toEqual([undefined, undefined, undefined]);
  });

  it('reads one again that is too old, also where the clock was set back', async () => {
    const { readLevel, cache } = start();
    await cache.of('acme', 'ada');
    jest.setSystemTime(Date.now() - 3_600_000);
    jest.advanceTimersByTime(5_000);
    await cache.of('acme', 'ada');
    expect(readLevel).toHaveBeenCalledTimes(6);
  });

  it('keeps none that is too old, however many users and tenants there were', async () => {
    const { cache } = start();
    for (let number = 0; number < 100; number++) {
      await cache.of('acme', `user ${number}`);
      await cache.of(`tenant ${number}`, 'ada');
    }
    // A hundred users, as many of other tenants with these, one tenant more, and what is set for all.
    expect(cache.size).toBe(302);
    jest.advanceTimersByTime(5_000);
    await cache.of('acme', 'ada');
    expect(cache.size).toBe(3);
  });

  it('keeps no more than so many characters, of what was read last', async () => {
    const { cache, readLevel, reads } = start(10_000);
    readLevel.mockImplementation(async ({ scope }) => aLevel('x'.repeat(scope === 'user' ? 2_000 : 0)));
    for (let number = 0; number < 100; number++) await cache.of('acme', `user ${number}`);
    expect(cache.size).toBeLessThanOrEqual(5);
    readLevel.mockClear();
    await cache.of('acme', 'user 99');
    expect(reads()).not.toContain('user user 99');
    await cache.of('acme', 'user 1');
    expect(reads()).toContain('user user 1');
  });

  it('counts nothing of what it has forgotten', async () => {
    const { cache, readLevel } = start(10_000);
    readLevel.mockImplementation(async () => aLevel('x'.repeat(2_000)));
    for (let number = 0; number < 100; number++) {
      await cache.of('acme', 'ada');
      cache.invalidate({ tenantId: 'acme', scope: 'user', userId: 'ada' });
    }
    await cache.of('acme', 'ada');
    expect(cache.size).toBe(3);
  });

  it('keeps none that could not be read', async () => {
    const { readLevel, cache } = start();
    readLevel.mockRejectedValueOnce(new Error('away'));
    await expect(cache.of('acme', 'ada')).rejects.toThrow('away');
    expect(cache.size).toBe(2);
    expect(valuesOf(await cache.of('acme', 'ada'))[0]).toBe('acme user ada');
  });
});
