type Falsy = false | null | undefined | 0 | 0n | '';

/**
 * Polls a condition until it holds, and returns its value. A number of rows that is 0 does not hold.
 * Throws the last error of the condition when it does not hold within the time.
 */
export async function eventually<Value>(
  condition: () => Promise<Value> | Value,
  millisecondsMax = 10_000,
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
