type Falsy = false | null | undefined | 0 | 0n | '';

/** A bound for what hangs, not a measure: a machine may be busy with other things. Below the time of a test. */
const MILLISECONDS_MAX = 60_000;

/**
 * Polls a condition until it holds, and returns its value. A number of rows that is 0 does not hold.
 * Throws the last error of the condition when it does not hold within the time.
 */
export async function eventually<Value>(
  condition: () => Promise<Value> | Value,
  millisecondsMax = MILLISECONDS_MAX,
): Promise<Exclude<Value, Falsy>> {
  const deadline = Date.now() + millisecondsMax;
  let lastError: unknown = new Error('The condition never held.');
  while (Date.now() < deadline) {
    try {
      const value = await condition();
      if (value) return value as Exclude<Value, Falsy>;
    } catch (error) {
      lastError = error;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw lastError;
}
