import { FairShares } from '@plinth/kernel/fair-shares';
import { ApplicationFailure } from '@temporalio/activity';

/** So many long activities a worker runs at the same time. */
export const LONG_ACTIVITIES_MAX = 4;

/** One place is always left to activities that end within seconds. */
const WHOLE_JOBS_MAX = LONG_ACTIVITIES_MAX - 1;

/**
 * Shares a worker between tenants whose jobs keep their place to the end, which may be hours away: exports, workbooks, and
 * imports of all rows or none. A tenant has two of the three places at most. Who has no share fails, and comes again by
 * the backoff of its retries: what waits holds no place.
 */
export class WholeJobs {
  private readonly shares = new FairShares(WHOLE_JOBS_MAX, { limitsUsers: false });

  async run<Result>(tenantId: string, work: () => Promise<Result>): Promise<Result> {
    const owner = { tenantId, userId: '' };
    if (this.shares.take(owner))
      throw ApplicationFailure.retryable(
        'Long jobs have all places of a worker that they may have.',
        'Share',
      );
    try {
      return await work();
    } finally {
      this.shares.give(owner);
    }
  }
}
