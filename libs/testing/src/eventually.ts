/**
 * Polls a condition until it holds, and returns its value.
 * Throws the last error of the condition when it does not hold within the time.
 */
export async function eventually<Value>(
  condition: () => Promise<Value> | Value,
  millisecondsMax = 10_000,
): Promise<NonNullable<Value>> {
  const deadline = Date.now() + millisecondsMax;
  let lastError: unknown = new Error('The condition never held.');
  while (Date.now() < deadline) {
    try {
      const value = await condition();
      if (value !== undefined && value !== null && value !== false) return value;
    } catch (error) {
      lastError = error;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw lastError;
}
