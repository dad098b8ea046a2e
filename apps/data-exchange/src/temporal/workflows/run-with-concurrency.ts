/**
 * Runs steps 0 to count - 1 in their order, some at the same time; none begins after one that returned false. Returns whether
 * none did, and the sum of the numbers that steps returned.
 */
export async function runWithConcurrency(
  count: number,
  concurrency: number,
  run: (step: number) => Promise<unknown>,
): Promise<{ isComplete: boolean; sum: number }> {
  let next = 0;
  let sum = 0;
  let shouldContinue = true;
  const runSteps = async (): Promise<void> => {
    while (shouldContinue && next < count) {
      try {
        const result = await run(next++);
        if (result === false) shouldContinue = false;
        sum += numberOf(result);
      } catch (error) {
        shouldContinue = false;
        throw error;
      }
    }
  };
  const runners = await Promise.allSettled(Array.from({ length: concurrency }, runSteps));
  for (const runner of runners) if (runner.status === 'rejected') throw runner.reason;
  return { isComplete: shouldContinue, sum };
}

/** Activities of a version before tell no numbers. */
export const numberOf = (result: unknown): number => (typeof result === 'number' ? result : 0);
