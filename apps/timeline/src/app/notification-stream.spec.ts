import type { Caller } from '@plinth/kernel/caller';
import { turnsAt } from '@plinth/runtime/process/fair-places';
import { notificationStream } from './notification-stream';

const READS = 4;

/** Opens streams whose reads end when they are told to. */
function openStreams() {
  const reading: { userId: string; end: () => void }[] = [];
  const read: string[] = [];
  const parts = {
    notifications: {
      since: ({ userId }: Caller) =>
        new Promise<never[]>((resolve) => {
          read.push(userId);
          reading.push({ userId, end: () => resolve([]) });
        }),
    },
    signal: { onWake: () => () => undefined },
    streamReads: turnsAt(READS),
  };
  const ending = new AbortController();
  const open = (tenantId: string, userId: string): Promise<unknown> => {
    const caller: Caller = { tenantId, userId, userName: userId, permissions: [] };
    return notificationStream(caller, 0n, ending.signal, parts)[Symbol.asyncIterator]().next();
  };
  const endAll = async (): Promise<void> => {
    ending.abort();
    while (reading.length > 0) {
      reading.shift()!.end();
      await new Promise(setImmediate);
    }
  };
  return { read, reading, open, endAll };
}

describe('streams of notifications', () => {
  it('read in turns of their tenants, a few at the same time', async () => {
    const { read, reading, open, endAll } = openStreams();
    const streams = Array.from({ length: 50 }, () => open('acme', 'ada'));
    await new Promise(setImmediate);
    expect(reading.length).toBeLessThanOrEqual(READS);
    streams.push(open('globex', 'bob'));
    await new Promise(setImmediate);
    expect(read.at(-1)).toBe('bob');
    expect(read.length).toBeLessThanOrEqual(READS);
    await endAll();
    await Promise.all(streams);
    expect(read).toHaveLength(51);
  });
});
