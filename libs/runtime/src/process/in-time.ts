/** What work results in; where it takes longer, what `onLate` returns or throws. The work itself goes on. */
export async function inTime<Result>(
  millisecondsMax: number,
  work: Promise<Result>,
  onLate: () => Result,
): Promise<Result> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, millisecondsMax);
  return Promise.race([work, late.promise.then(onLate)]).finally(() => clearTimeout(timer));
}
