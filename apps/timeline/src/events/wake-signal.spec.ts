import type { Messaging } from '@plinth/runtime/messaging/nats';
import { silentLog } from '@plinth/runtime/process/log';
import { TEST_KEYS } from '@plinth/testing/http';
import { keysOfEntities, keysOfEntity, wakeSignal } from './wake-signal';

const startSignal = () => {
  const published: string[][] = [];
  const connection = {
    subscribe: () => ({ unsubscribe: () => undefined }),
    publish: (_subject: string, body: string) => published.push(JSON.parse(body)),
  };
  const messaging = { connection, keys: TEST_KEYS, log: silentLog(), prefix: 'plinth' };
  return { published, signal: wakeSignal(messaging as unknown as Messaging, 'changed') };
};

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

describe('a wake signal', () => {
  it('is sent at once where nothing was sent a moment before', () => {
    const { published, signal } = startSignal();
    signal.wake('acme', ['Invoice/1']);
    expect(published).toEqual([['acme/Invoice/1']]);
  });

  it('says under load in one message what many requests changed, of each only once', () => {
    const { published, signal } = startSignal();
    signal.wake('acme', ['Invoice/1']);
    for (const number of [2, 3, 2]) signal.wake('acme', [`Invoice/${number}`]);
    signal.wake('other', ['Invoice/2']);
    jest.runAllTimers();
    expect(published).toEqual([['acme/Invoice/1'], ['acme/Invoice/2', 'acme/Invoice/3', 'other/Invoice/2']]);
  });

  it('is split where it would be too large for a message', () => {
    const { published, signal } = startSignal();
    signal.wake(
      'acme',
      Array.from({ length: 1_001 }, (_, number) => `Invoice/${number}`),
    );
    expect(published.map((keys) => keys.length)).toEqual([500, 500, 1]);
  });

  it('is split where its keys are too long for a message', () => {
    const { published, signal } = startSignal();
    const keys = Array.from({ length: 450 }, (_, number) => `Invoice/${number}${'\u0001'.repeat(400)}`);
    signal.wake('acme', keys);
    expect(published.flat()).toHaveLength(450);
    for (const message of published)
      expect(Buffer.byteLength(JSON.stringify(message))).toBeLessThan(512 * 1024);
  });

  it('is sent before its process ends', async () => {
    const set = jest.spyOn(globalThis, 'setTimeout');
    const cleared = jest.spyOn(globalThis, 'clearTimeout');
    const { published, signal } = startSignal();
    signal.wake('acme', ['Invoice/1']);
    signal.wake('acme', ['Invoice/2']);
    await signal.close();
    expect(published).toEqual([['acme/Invoice/1'], ['acme/Invoice/2']]);
    expect(set).toHaveBeenCalledTimes(2);
    for (const { value } of set.mock.results) expect(cleared).toHaveBeenCalledWith(value);
  });
});

describe('the keys of entities', () => {
  const entityIds = Array.from(
    { length: 4_000 },
    (_, number) =>
      `01900000-0000-7${(number >> 8).toString(16).padStart(3, '0')}-8000-${String(number).padStart(12, '0')}`,
  );

  it('are few where an import is about many', () => {
    expect(keysOfEntities('Invoice', entityIds).length).toBeLessThanOrEqual(16);
    expect(keysOfEntities('Invoice', entityIds.slice(0, 2))).toEqual(
      entityIds.slice(0, 2).map((entityId) => `Invoice/${entityId}`),
    );
  });

  it.each([[entityIds], [entityIds.slice(0, 2)]])('wake the stream of each of them', (woken) => {
    const keys = keysOfEntities('Invoice', woken);
    for (const entityId of woken)
      expect(keysOfEntity({ entityType: 'Invoice', entityId }).some((key) => keys.includes(key))).toBe(true);
  });

  it('wake no stream of another type', () => {
    const keys = keysOfEntities('Invoice', entityIds);
    const others = keysOfEntity({ entityType: 'Order', entityId: entityIds[0]! });
    expect(others.some((key) => keys.includes(key))).toBe(false);
  });
});
