import { currentWork, forRequest } from '@plinth/runtime/process/current-work';
import type { Snapshot } from '../domain/snapshot';
import { snapshotCache } from './snapshot-cache';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const start = () => {
  const read = jest.fn(
    async (tenantId: string, userId: string) => `${tenantId} ${userId}` as unknown as Snapshot,
  );
  return { read, cache: snapshotCache(read) };
};

describe('the cache of snapshots', () => {
  it('reads one again when it is too old or was made stale, and not before', async () => {
    const { read, cache } = start();
    const ofAda = () => cache.of('acme', 'ada');
    expect([await ofAda(), await ofAda()]).toEqual(['acme ada', 'acme ada']);
    expect(read).toHaveBeenCalledTimes(1);
    jest.advanceTimersByTime(5_000);
    await ofAda();
    expect(read).toHaveBeenCalledTimes(2);
    for (const level of [
      { tenantId: 'acme', scope: 'user' as const, userId: 'ada' },
      { tenantId: 'acme', scope: 'tenant' as const, userId: '' },
      { tenantId: 'host', scope: 'global' as const, userId: '' },
    ]) {
      cache.invalidate(level);
      await ofAda();
    }
    expect(read).toHaveBeenCalledTimes(5);
    cache.invalidate({ tenantId: 'acme', scope: 'user', userId: 'bob' });
    await ofAda();
    expect(read).toHaveBeenCalledTimes(5);
  });

  it('reads for all who wait, not for the request that came first', async () => {
    const { read, cache } = start();
    let signal: AbortSignal | undefined;
    read.mockImplementation(async () => {
      signal = currentWork().signal;
      return {} as Snapshot;
    });
    const first = new AbortController();
    await forRequest(first.signal, () => cache.of('acme', 'ada'));
    expect(signal).toBeUndefined();
    expect(read).toHaveBeenCalledTimes(1);
  });

  it('reads one again that is too old, also where the clock was set back', async () => {
    const { read, cache } = start();
    await cache.of('acme', 'ada');
    jest.setSystemTime(Date.now() - 3_600_000);
    jest.advanceTimersByTime(5_000);
    await cache.of('acme', 'ada');
    expect(read).toHaveBeenCalledTimes(2);
  });

  it('keeps none that is too old, however many users and tenants there were', async () => {
    const { cache } = start();
    for (let number = 0; number < 100; number++) {
      await cache.of('acme', `user ${number}`);
      await cache.of(`tenant ${number}`, 'ada');
    }
    expect(cache.size).toBe(200);
    jest.advanceTimersByTime(5_000);
    await cache.of('acme', 'ada');
    expect(cache.size).toBe(1);
  });

  it('keeps none that could not be read', async () => {
    const { read, cache } = start();
    read.mockRejectedValueOnce(new Error('away'));
    await expect(cache.of('acme', 'ada')).rejects.toThrow('away');
    expect(cache.size).toBe(0);
    expect(await cache.of('acme', 'ada')).toBe('acme ada');
  });
});
