import { setImmediate as nextTurn } from 'node:timers/promises';
import { aCaller } from '@plinth/testing/http';
import { SharedProgress } from './shared-progress';
import { watchProgress, type Progress } from './watch-progress';

describe('the stream of the progress of a job', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
  afterEach(() => void jest.useRealTimers());

  const passSeconds = async (seconds: number) => {
    for (let tenths = 0; tenths < seconds * 10; tenths++) {
      jest.advanceTimersByTime(100);
      await nextTurn();
    }
  };

  it('looks at it twice a second while it makes progress, and more rarely after that', async () => {
    let reads = 0;
    let rowsDone = 0;
    const read = async (): Promise<Progress> => {
      reads++;
      return { status: 'Executing', rowsDone } as Progress;
    };
    const end = new AbortController();
    const clock = { now: () => new Date() };
    const watched = { jobKey: 'a', read, caller: aCaller(), clock, signal: end.signal };
    const seen: number[] = [];
    const watching = (async () => {
      for await (const { data } of watchProgress(new SharedProgress(), watched)) seen.push(data.rowsDone);
    })();
    const readsIn = async (seconds: number) => {
      const before = reads;
      await passSeconds(seconds);
      return reads - before;
    };

    expect(await readsIn(10)).toBeGreaterThanOrEqual(18);
    expect(await readsIn(10)).toBeLessThanOrEqual(5);
    rowsDone = 7;
    await passSeconds(3);
    expect(seen).toEqual([0, 7]);
    expect(await readsIn(5)).toBeGreaterThanOrEqual(9);

    end.abort();
    await passSeconds(3);
    await watching;
  });
});
