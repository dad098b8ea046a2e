import { eventually } from './eventually';

describe('eventually', () => {
  it.each([false, null, undefined, 0, ''])('waits while the condition is %p', async (nothing) => {
    const values = [nothing, nothing, 'held'];
    expect(await eventually(() => values.shift())).toBe('held');
  });

  it('throws the last error of a condition that never held', async () => {
    await expect(eventually(() => Promise.reject(new Error('not yet')), 10)).rejects.toThrow('not yet');
  });

  it('also ends while a test has stopped the clock', async () => {
    const clocks = [Date, performance].map((clock) => jest.spyOn(clock, 'now').mockReturnValue(0));
    try {
      await expect(eventually(() => false, 10)).rejects.toThrow('never held');
    } finally {
      for (const clock of clocks) clock.mockRestore();
    }
  });
});
