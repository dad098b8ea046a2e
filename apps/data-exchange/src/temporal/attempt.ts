import type { Context } from '@temporalio/activity';
import {
  countedAttempt,
  crashesOf,
  detailsOf,
  isGivenUp,
  isLastAttempt,
  isUnprovenAfter,
  livesLonger,
  type AttemptDetails,
  type Neighbour,
} from './job-failure';

/** So often that a worker may stand still for most of the time after which it counts as crashed. */
const HEARTBEAT_MILLISECONDS = 250;
/** Temporal is told what a heartbeat says within half of this (run-worker.ts). */
const TOLD_MILLISECONDS = 1_000;

/** An attempt of an activity. It reports that it is alive, and leaves to the next one what that has to know. */
export class Attempt implements Neighbour {
  private begin = performance.now();
  private isWaiting = false;
  private readonly crashesOfAll: number;
  private readonly longestBefore: number;
  private details: AttemptDetails;

  /** @param crashesOfJob how many processes count that ended under what came before it */
  constructor(
    private readonly context: Context,
    crashesOfJob = 0,
  ) {
    this.crashesOfAll = crashesOfJob + crashesOf(context.info);
    this.details = detailsOf(context.info);
    this.longestBefore = this.details.longest;
  }

  get number(): number {
    return countedAttempt(this.context.info);
  }

  get isLast(): boolean {
    return isLastAttempt(this.number);
  }

  get crashes(): number {
    return this.crashesOfAll - this.details.crashesBefore;
  }

  get isUnproven(): boolean {
    return isUnprovenAfter(this.lived());
  }

  get isGivenUp(): boolean {
    return isGivenUp(this.crashes);
  }

  /** Reports to Temporal that the activity is alive while it works. */
  async whileAlive<Result>(work: () => Promise<Result>): Promise<Result> {
    // Without it the next one could not tell that the process of this one ended.
    this.beat();
    const heartbeat = setInterval(() => this.beat(), HEARTBEAT_MILLISECONDS);
    try {
      return await work();
    } finally {
      clearInterval(heartbeat);
    }
  }

  /**
   * Waits for others, and begins to live then. Where its process ends while it waits, it is not to blame, and where it ends
   * as soon as it begins, it is.
   */
  async beginAfter(wait: () => Promise<void>): Promise<void> {
    this.isWaiting = true;
    this.beat();
    try {
      await wait();
    } finally {
      this.isWaiting = false;
      this.begin = performance.now();
    }
    this.beat();
    await new Promise((resolve) => setTimeout(resolve, TOLD_MILLISECONDS));
  }

  /** The activity got further than any attempt before: what ended its processes until then says nothing of what follows. */
  noteProgress(): void {
    this.details = { ...this.details, crashesBefore: this.crashesOfAll };
  }

  /** The attempt failed, and its process did not end. */
  noteFailure({ isForOthers }: { isForOthers: boolean }): void {
    this.details = this.endedWith({ isForOthers });
    this.beat();
  }

  private endedWith({ isForOthers }: { isForOthers: boolean }): AttemptDetails {
    const { forOthers, ended } = this.details;
    return { ...this.details, ended: ended + 1, forOthers: forOthers + (isForOthers ? 1 : 0) };
  }

  private beat(): void {
    const lived = this.lived();
    if (livesLonger(lived, this.longestBefore)) this.noteProgress();
    this.details = { ...this.details, longest: Math.max(lived, this.longestBefore) };
    this.context.heartbeat(this.isWaiting ? this.endedWith({ isForOthers: true }) : this.details);
  }

  private lived(): number {
    return this.isWaiting ? 0 : Math.round(performance.now() - this.begin);
  }
}
