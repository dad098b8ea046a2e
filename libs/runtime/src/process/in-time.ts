/**
 * What work results in; where it takes longer, what `onLate` returns or throws. The work itself goes on. A process that stood
 * still first takes what has arrived meanwhile: its own silence is not that of others.
 */
export async function inTime<Result>(
  millisecondsMax: number,
  work: Promise<Result>,
  onLate: () => Result,
): Promise<Result> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(() => setImmediate(late.resolve), millisecondsMax);
  return Promise.race([work, late.promise.then(onLate)]).finally(() => clearTimeout(timer));
}
