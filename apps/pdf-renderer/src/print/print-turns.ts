/**
 * Turns of documents that are printed beside each other, and of those that are printed alone. Each waits for those that came
 * before it and cannot be printed with it, so that none waits for more than were there when it came. A signal gives up the
 * waiting; the work itself has to heed it.
 */
export class PrintTurns {
  private readonly unfinished = new Set<Promise<unknown>>();
  /** The end of all that are printed alone. */
  private aloneEnded: Promise<unknown> = Promise.resolve();

  /** Works beside others. @throws the reason of the signal, and what the work throws */
  beside<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    return this.take(this.aloneEnded, signal, work);
  }

  /** Works while nobody else does. @throws the reason of the signal, and what the work throws */
  alone<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Result> {
    const turn = this.take(Promise.allSettled(this.unfinished), signal, work);
    // One that is given up may end before those that came before it.
    this.aloneEnded = Promise.allSettled([this.aloneEnded, turn]);
    return turn;
  }

  private take<Result>(
    before: Promise<unknown>,
    signal: AbortSignal,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const turn = endOrAbort(before, signal).then(work);
    const forget = () => void this.unfinished.delete(turn);
    this.unfinished.add(turn);
    turn.then(forget, forget);
    return turn;
  }
}

/** Waits for something. @throws the reason of the signal, where that comes before, and what it throws */
export async function endOrAbort<Result>(before: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const giveUp = (): void => reject(signal.reason);
  if (signal.aborted) giveUp();
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    return await Promise.race([before, aborted]);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}
