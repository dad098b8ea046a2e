import { setTimeout as pause } from 'node:timers/promises';

/** A rest is so many times as long as what was done before it, which so takes a fifth of the time at most. */
const RESTS = 4;
/** Under load everything takes long, and others wait for it. */
const REST_MILLISECONDS_MAX = 2_000;

/**
 * Work that is asked for again and again and may take long, such as finding the first rows of a queue: while any
 * transaction of a database is open, Postgres keeps the index entries of all rows that were removed since it began, and
 * passes them each time. So it rests after each time, in proportion to how long it took.
 */
export class PacedWork<Result, Arguments extends unknown[] = []> {
  private restsUntil = 0;

  constructor(private readonly work: (...given: Arguments) => Promise<Result>) {}

  /** Whether it would begin at once. */
  get isRested(): boolean {
    return this.rest <= 0;
  }

  /** Does it after its rest. */
  async do(...given: Arguments): Promise<Result> {
    if (!this.isRested) await pause(this.rest);
    const begunAt = performance.now();
    try {
      return await this.work(...given);
    } finally {
      const endedAt = performance.now();
      this.restsUntil = endedAt + Math.min((endedAt - begunAt) * RESTS, REST_MILLISECONDS_MAX);
    }
  }

  private get rest(): number {
    return this.restsUntil - performance.now();
  }
}
