/** Runs steps 0 to count - 1 in their order, some at the same time; none begins after one that returned false. */
export async function runWithConcurrency(
  count: number,
  concurrency: number,
  run: (step: number) => Promise<boolean>,
): Promise<boolean> {
  let next = 0;
  let shouldContinue = true;
  const runSteps = async (): Promise<void> => {
    while (shouldContinue && next < count) {
      try {
        if (!(await run(next++))) shouldContinue = false;
      } catch (error) {
        shouldContinue = false;
        throw error;
      }
    }
  };
  const runners = await Promise.allSettled(Array.from({ length: concurrency }, runSteps));
  for (const runner of runners) if (runner.status === 'rejected') throw runner.reason;
  return shouldContinue;
}
