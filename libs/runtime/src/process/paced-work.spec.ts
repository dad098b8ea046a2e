import { PacedWork } from './paced-work';

describe('paced work', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  /** Work that takes so many milliseconds. */
  const taking = (milliseconds: number) =>
    new PacedWork(async () => {
      jest.advanceTimersByTime(milliseconds);
      return 'done';
    });

  it.each([
    ['four times as long as it took', 100, 400],
    ['two seconds at most', 10_000, 2_000],
  ])('rests %s', async (_name, milliseconds, rest) => {
    const work = taking(milliseconds);
    expect(work.isRested).toBe(true);
    expect(await work.do()).toBe('done');

    jest.advanceTimersByTime(rest - 1);
    expect(work.isRested).toBe(false);
    jest.advanceTimersByTime(1);
    expect(work.isRested).toBe(true);
  });

  it('rests after a failure too', async () => {
    const work = new PacedWork(async () => {
      jest.advanceTimersByTime(10);
      throw new Error('The database is away.');
    });
    await expect(work.do()).rejects.toThrow('away');
    expect(work.isRested).toBe(false);
  });
});
