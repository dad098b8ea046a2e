/** Limits the time for which somebody waits for a stream, by one timer however many chunks it has. */
export class WorkLimit {
  isOver = false;
  private waitingSince: number | undefined;
  private timer: NodeJS.Timeout | undefined;

  /** @param end ends the stream */
  constructor(
    private millisecondsLeft: number,
    private readonly end: () => void,
  ) {}

  /** Passes the stream on, and ends it when the time is over. */
  async *within<Chunk>(chunks: AsyncIterable<Chunk>): AsyncGenerator<Chunk> {
    const iterator = chunks[Symbol.asyncIterator]();
    try {
      for (
        let next = await this.waitFor(iterator.next());
        !next.done;
        next = await this.waitFor(iterator.next())
      )
        yield next.value;
    } finally {
      clearTimeout(this.timer);
    }
  }

  private async waitFor<Result>(next: Promise<Result>): Promise<Result> {
    const since = performance.now();
    this.waitingSince = since;
    this.timer ??= this.startTimer(this.millisecondsLeft);
    try {
      return await next;
    } finally {
      this.waitingSince = undefined;
      this.millisecondsLeft -= performance.now() - since;
    }
  }

  /** It may fire too soon, since it goes on while nobody waits; never too late. */
  private startTimer(milliseconds: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.timer = undefined;
      if (this.waitingSince === undefined) return;
      const left = this.millisecondsLeft - (performance.now() - this.waitingSince);
      if (left > 0) {
        this.timer = this.startTimer(left);
        return;
      }
      this.isOver = true;
      this.end();
    }, milliseconds);
  }
}
