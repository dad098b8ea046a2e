import { runWithConcurrency } from './run-with-concurrency';

describe('steps that run at the same time', () => {
  it('are added up, whichever ends first', async () => {
    const last = Promise.withResolvers<number>();
    const running = runWithConcurrency(4, 2, async (step) => {
      if (step === 3) last.resolve(10);
      return step === 0 ? last.promise : step;
    });

    expect(await running).toEqual({ isComplete: true, sum: 16 });
  });

  it('may tell no number, and end where one says that none begins after it', async () => {
    const begun: number[] = [];
    const run = async (step: number) => {
      begun.push(step);
      return [undefined, true, false][step];
    };

    expect(await runWithConcurrency(9, 1, run)).toEqual({ isComplete: false, sum: 0 });
    expect(begun).toEqual([0, 1, 2]);
  });
});
