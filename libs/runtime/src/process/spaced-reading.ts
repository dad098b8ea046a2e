/** What was read is remembered for so long at least. */
const SECONDS_MIN = 5;
/** It is remembered so many times as long as the reading took, which so takes a hundredth of the time. */
const RESTS = 100;
/** A failed one is repeated sooner: what was away is back, or busy. */
const RESTS_AFTER_FAILURE = 4;
/** Figures that are older tell too little. */
const SECONDS_MAX = 60;

/**
 * A reading for figures that takes as long as much is stored, and that anybody may ask for at any time: all who ask share
 * one, and what it resulted in is remembered for a time in proportion to how long it took.
 */
export class SpacedReading<Result> {
  private latest: Promise<Result> | undefined;
  private until = 0;

  constructor(private readonly ask: () => Promise<Result>) {}

  /** What is there changed: the next one who asks begins another reading. */
  forget(): void {
    this.latest = undefined;
  }

  /** What the latest reading resulted in, or failed with. */
  read(): Promise<Result> {
    if (this.latest && performance.now() < this.until) return this.latest;
    const begunAt = performance.now();
    const reading = this.ask();
    const rest = (times: number, secondsMin: number) => () => {
      if (this.latest !== reading) return;
      const endedAt = performance.now();
      const milliseconds = Math.min((endedAt - begunAt) * times, SECONDS_MAX * 1_000);
      this.until = endedAt + Math.max(milliseconds, secondsMin * 1_000);
    };
    this.latest = reading;
    // Nobody begins another one before this one ends.
    this.until = Infinity;
    reading.then(rest(RESTS, SECONDS_MIN), rest(RESTS_AFTER_FAILURE, 0));
    return reading;
  }
}
