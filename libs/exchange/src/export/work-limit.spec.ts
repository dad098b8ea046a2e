import { WorkLimit } from './work-limit';

describe('the limit of the work on an export', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  /** Chunks that take so long each. */
  async function* chunksAfter(...milliseconds: number[]): AsyncGenerator<number> {
    for (const [index, wait] of milliseconds.entries()) {
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      yield index;
    }
  }

  it('sets no timer for each of many chunks', async () => {
    const timers = jest.spyOn(globalThis, 'setTimeout');
    const limit = new WorkLimit(1_000, () => undefined);
    let count = 0;
    for await (const _chunk of limit.within(chunksAfter(...Array<number>(1_000).fill(0)))) count++;

    expect([count, timers.mock.calls.length]).toEqual([1_000, 1]);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('counts the time for which somebody waits, however long each chunk is kept', async () => {
    const end = jest.fn();
    const limit = new WorkLimit(1_000, end);
    const chunks = limit.within(chunksAfter(400, 400, 400));
    const next = async (milliseconds: number) => {
      const result = chunks.next();
      await jest.advanceTimersByTimeAsync(milliseconds);
      return result;
    };

    for (const index of [0, 1]) {
      expect(await next(400)).toEqual({ done: false, value: index });
      await jest.advanceTimersByTimeAsync(600_000);
    }
    const third = chunks.next();
    await jest.advanceTimersByTimeAsync(199);
    expect([end.mock.calls.length, limit.isOver]).toEqual([0, false]);
    await jest.advanceTimersByTimeAsync(1);
    expect([end.mock.calls.length, limit.isOver]).toEqual([1, true]);
    await jest.advanceTimersByTimeAsync(600_000);
    await third;
    await chunks.return(undefined);
    expect([end.mock.calls.length, jest.getTimerCount()]).toEqual([1, 0]);
  });
});
