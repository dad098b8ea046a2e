import { readInTime } from './read-in-time';

describe('a reading for a metric', () => {
  it.each<[string, () => Promise<number>, number | undefined]>([
    ['gives what was read', async () => 7, 7],
    ['gives nothing where it fails', () => Promise.reject(new Error('away')), undefined],
  ])('%s', async (_, read, result) => {
    expect(await readInTime(read)).toBe(result);
  });

  it('gives nothing where it takes longer than who collects metrics waits', async () => {
    jest.useFakeTimers();
    const reading = readInTime(() => new Promise<number>(() => undefined));
    // And what has arrived by then comes first.
    await jest.advanceTimersByTimeAsync(2_001);
    expect(await reading).toBeUndefined();
    jest.useRealTimers();
  });
});
