type Falsy = false | null | undefined | 0 | 0n | '';

/** As it is: a test may stop the clock that the rest of the process sees. */
const realNow = performance.now.bind(performance);

/**
 * A bound for what hangs, not a measure: a machine may be busy with other things. Far below the time of a test, so that one
 * that waits for other things before says what it waited for.
 */
const MILLISECONDS_MAX = 120_000;
/** What takes long is asked for less often: each question takes processor time from what is waited for. */
const PAUSE_MILLISECONDS = { first: 10, last: 100, growth: 1.2 };

/**
 * Polls a condition until it holds, and returns its value. A number of rows that is 0 does not hold.
 * Throws the last error of the condition when it does not hold within the time.
 */
export async function eventually<Value>(
  condition: () => Promise<Value> | Value,
  millisecondsMax = MILLISECONDS_MAX,
): Promise<Exclude<Value, Falsy>> {
  const deadline = realNow() + millisecondsMax;
  let lastError: unknown = new Error('The condition never held.');
  let pause = PAUSE_MILLISECONDS.first;
  while (realNow() < deadline) {
    try {
      const value = await condition();
      if (value) return value as Exclude<Value, Falsy>;
    } catch (error) {
      lastError = error;
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * PAUSE_MILLISECONDS.growth, PAUSE_MILLISECONDS.last);
  }
  throw lastError;
}
