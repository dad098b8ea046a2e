import { FairShares, type FairSharesOptions } from '@plinth/kernel/fair-shares';
import { ApplicationFailure } from '@temporalio/activity';
import type { Attempt } from './attempt';
import { mayBlame, runsAlone } from './job-failure';

/** So many activities of each of its two queues a worker runs at the same time. */
export const ACTIVITIES_MAX = 4;

/** Who was refused comes again within ten seconds, by the longest interval of its retries. */
const COMES_AGAIN_MILLISECONDS = 15_000;

/** Keeps what is free next for those who were refused it and come before others, until they come again. */
class Precedence {
  private readonly keptUntil = new Map<string, number>();

  /** @param of what they share with those who wait for them */
  keep(of: string): void {
    const now = performance.now();
    for (const [key, until] of this.keptUntil) if (until <= now) this.keptUntil.delete(key);
    this.keptUntil.set(of, now + COMES_AGAIN_MILLISECONDS);
  }

  isKept(of: string): boolean {
    return (this.keptUntil.get(of) ?? 0) > performance.now();
  }

  end(of: string): void {
    this.keptUntil.delete(of);
  }
}

/** Places that tenants share. */
class TenantPlaces {
  private readonly shares: FairShares;
  private readonly precedence = new Precedence();

  constructor(places: number, options: FairSharesOptions = {}) {
    this.shares = new FairShares(places, { ...options, limitsUsers: false });
  }

  /** @param isEnd the next place of its tenant is for what ends a job */
  async run<Result>(
    tenantId: string,
    work: () => Promise<Result>,
    { isEnd }: { isEnd: boolean },
  ): Promise<Result> {
    const owner = { tenantId, userId: '' };
    if (!isEnd && this.precedence.isKept(tenantId)) throw refusal('The end of another job comes first.');
    if (this.shares.take(owner)) {
      if (isEnd) this.precedence.keep(tenantId);
      throw refusal('The jobs of a tenant have all places of a worker that they may have.');
    }
    if (isEnd) this.precedence.end(tenantId);
    try {
      return await work();
    } catch (error) {
      // It needs another place too.
      if (isEnd && isShareRefusal(error)) this.precedence.keep(tenantId);
      throw error;
    } finally {
      this.shares.give(owner);
    }
  }
}

/**
 * Shares the places of one queue of a worker between tenants. Who has no share fails, and comes again by the backoff of its
 * retries: what waits holds no place. However many jobs of a tenant come again and again, as where they wait for rows, it
 * has three places at most.
 */
export class WorkerShares {
  private readonly all = new TenantPlaces(ACTIVITIES_MAX, { timesFree: ACTIVITIES_MAX - 1 });
  private readonly whole: TenantPlaces;

  private constructor(options: FairSharesOptions) {
    this.whole = new TenantPlaces(ACTIVITIES_MAX - 1, options);
  }

  /**
   * Of whole jobs there are exports, workbooks, and imports of all rows or none, whose end may be hours away, and of large
   * files what finds their duplicate keys, which takes up to half an hour. One place is always left to activities that end
   * within seconds, as cutting the largest file does, and a tenant has two of the others at most.
   */
  static long = (): WorkerShares => new WorkerShares({});

  /** Small files. A hundred thousand short rows are small too: as with long jobs, but a tenant leaves only one of its places. */
  static short = (): WorkerShares => new WorkerShares({ timesFree: 2 });

  /** Runs what ends within seconds. */
  run<Result>(tenantId: string, work: () => Promise<Result>): Promise<Result> {
    return this.all.run(tenantId, work, { isEnd: false });
  }

  /** Runs a job, or a step of a large one, that keeps its place to the end. */
  runWhole<Result>(tenantId: string, work: () => Promise<Result>, isEnd = false): Promise<Result> {
    return this.whole.run(tenantId, () => this.all.run(tenantId, work, { isEnd }), { isEnd });
  }

  /** Runs what ends a job and reads its file: in a worker it waits for one job of its tenant at most, however many do. */
  runEnd<Result>(tenantId: string, work: () => Promise<Result>): Promise<Result> {
    return this.runWhole(tenantId, work, true);
  }
}

/** The type of the failure of an activity for which there was no place. */
const SHARE = 'Share';

/** Whether an activity did not begin, as there was no place for it. */
export const isShareRefusal = (error: unknown): boolean =>
  error instanceof ApplicationFailure && error.type === SHARE;

const refusal = (message: string): ApplicationFailure => ApplicationFailure.retryable(message, SHARE);

/** How often somebody who is to run alone looks whether the others have left. */
const LOOK_MILLISECONDS = 250;

/** The attempts that run in a process, of which none is to end it for another. */
export class Neighbours {
  private readonly running = new Set<Attempt>();

  /**
   * Runs the work of an attempt, unless it or one that runs may be what ends the processes of the other. One that runs alone
   * waits here until others have left the process as they end, and none begins: each time it came again, it would come to
   * another process.
   */
  async run<Result>(
    attempt: Attempt,
    work: (signal: AbortSignal) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    const isAlone = runsAlone(attempt);
    const isWaitedFor = isAlone ? [...this.running].some(runsAlone) : this.mayBlameOthers(attempt);
    if (isWaitedFor)
      throw refusal('A job runs, or is about to, whose processes ended, and which of two is why must show.');
    this.running.add(attempt);
    try {
      if (this.mayBlameOthers(attempt)) await attempt.beginAfter(() => this.othersLeave(attempt, signal));
      return await work(signal);
    } finally {
      this.running.delete(attempt);
    }
  }

  private mayBlameOthers(attempt: Attempt): boolean {
    return [...this.running].some((other) => other !== attempt && mayBlame(attempt, other));
  }

  private othersLeave(attempt: Attempt, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const looking = setInterval(() => {
        if (signal.aborted) reject(signal.reason as Error);
        else if (this.mayBlameOthers(attempt)) return;
        else resolve();
        clearInterval(looking);
      }, LOOK_MILLISECONDS);
    });
  }
}
