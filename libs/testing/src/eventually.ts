/**
 * Waits until a condition holds, looking again and again, and answers its value.
 * Fails with the last failure of the condition when it never holds within the time.
 */
export async function eventually<Value>(
  condition: () => Promise<Value> | Value,
  millisecondsMax = 10_000,
): Promise<NonNullable<Value>> {
  const deadline = Date.now() + millisecondsMax;
  let failure: unknown = new Error('The condition never held.');
  while (Date.now() < deadline) {
    try {
      const value = await condition();
      if (value !== undefined && value !== null && value !== false) return value;
    } catch (error) {
      failure = error;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw failure;
}
