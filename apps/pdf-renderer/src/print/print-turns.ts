/**
 * Turns of documents that are printed beside each other, and of those that are printed alone. Each waits for those that came
 * before it and cannot be printed with it, so that none waits for more than were there when it came.
 */
export class PrintTurns {
  private readonly unfinished = new Set<Promise<unknown>>();
  /** The end of the last one that is printed alone. */
  private lastAlone: Promise<unknown> = Promise.resolve();

  /** Works beside others. @throws what the work throws */
  beside<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.take(this.lastAlone.then(work));
  }

  /** Works while nobody else does. @throws what the work throws */
  alone<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.take(Promise.allSettled(this.unfinished).then(work));
    this.lastAlone = turn.catch(() => undefined);
    return turn;
  }

  private take<Result>(turn: Promise<Result>): Promise<Result> {
    const forget = () => void this.unfinished.delete(turn);
    this.unfinished.add(turn);
    turn.then(forget, forget);
    return turn;
  }
}
