import { SpacedReading } from './spaced-reading';

describe('a spaced reading', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  /** One that takes so many milliseconds, and results in how many there were. */
  const taking = (milliseconds: number) => {
    let count = 0;
    return new SpacedReading(async () => {
      jest.advanceTimersByTime(milliseconds);
      return ++count;
    });
  };

  it.each([
    ['five seconds at least', 1, 5_000],
    ['a hundred times as long as it took', 200, 20_000],
    ['a minute at most', 10_000, 60_000],
  ])('is remembered for %s', async (_name, milliseconds, remembered) => {
    const reading = taking(milliseconds);
    expect(await reading.read()).toBe(1);

    jest.advanceTimersByTime(remembered - 1);
    expect(await reading.read()).toBe(1);
    jest.advanceTimersByTime(1);
    expect(await reading.read()).toBe(2);
  });

  it('is shared by all who ask until it ends, however long it takes', async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const ask = jest.fn(() => promise);
    const reading = new SpacedReading(ask);
    const first = reading.read();
    jest.advanceTimersByTime(1_000_000);
    const second = reading.read();
    resolve('done');

    expect(await Promise.all([first, second])).toEqual(['done', 'done']);
    expect(ask).toHaveBeenCalledTimes(1);
  });

  it('that failed is repeated sooner', async () => {
    const ask = jest.fn(async () => {
      jest.advanceTimersByTime(1_000);
      throw new Error('The database is away.');
    });
    const reading = new SpacedReading(ask);
    await expect(reading.read()).rejects.toThrow('away');
    jest.advanceTimersByTime(3_999);
    await expect(reading.read()).rejects.toThrow('away');
    expect(ask).toHaveBeenCalledTimes(1);
    jest.advanceTimersByTime(1);
    await expect(reading.read()).rejects.toThrow('away');
    expect(ask).toHaveBeenCalledTimes(2);
  });

  it('is made again once it was forgotten', async () => {
    const reading = taking(1);
    expect(await reading.read()).toBe(1);
    reading.forget();
    expect(await reading.read()).toBe(2);
    expect(await reading.read()).toBe(2);
  });
});
