import { FairShares, type FairSharesOptions } from '@plinth/kernel/fair-shares';
import { ApplicationFailure } from '@temporalio/activity';

/** So many activities of each of its two queues a worker runs at the same time. */
export const ACTIVITIES_MAX = 4;

/**
 * Shares a worker between tenants whose jobs keep their place to the end. Who has no share fails, and comes again by the
 * backoff of its retries: what waits holds no place.
 */
export class WholeJobs {
  private readonly shares: FairShares;

  private constructor(places: number, options: FairSharesOptions) {
    this.shares = new FairShares(places, { ...options, limitsUsers: false });
  }

  /**
   * Exports, workbooks, and imports of all rows or none, whose end may be hours away. One place is always left to
   * activities that end within seconds, and a tenant has two of the others at most.
   */
  static long = (): WholeJobs => new WholeJobs(ACTIVITIES_MAX - 1, {});

  /** Small files. A hundred thousand short rows are small too: as with long jobs, but a tenant leaves only one of its places. */
  static short = (): WholeJobs => new WholeJobs(ACTIVITIES_MAX - 1, { timesFree: 2 });

  async run<Result>(tenantId: string, work: () => Promise<Result>): Promise<Result> {
    const owner = { tenantId, userId: '' };
    if (this.shares.take(owner))
      throw ApplicationFailure.retryable(
        'The jobs of a tenant have all places of a worker that they may have.',
        'Share',
      );
    try {
      return await work();
    } finally {
      this.shares.give(owner);
    }
  }
}
