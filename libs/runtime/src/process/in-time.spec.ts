import { inTime } from './in-time';

const HOUR_MILLISECONDS = 3_600_000;
const never = new Promise<string>(() => undefined);

describe('work that has a time', () => {
  it('results in what it results in, and leaves no timer behind', async () => {
    const before = process.getActiveResourcesInfo();

    expect(await inTime(HOUR_MILLISECONDS, Promise.resolve('done'), () => 'late')).toBe('done');
    await expect(
      inTime(HOUR_MILLISECONDS, Promise.reject(new Error('failed')), () => 'late'),
    ).rejects.toThrow('failed');
    expect(process.getActiveResourcesInfo()).toEqual(before);
  });

  it('results in something else where it takes longer', async () => {
    expect(await inTime(0, never, () => 'late')).toBe('late');
    await expect(
      inTime(0, never, () => {
        throw new Error('It does not respond.');
      }),
    ).rejects.toThrow('It does not respond.');
  });
});
