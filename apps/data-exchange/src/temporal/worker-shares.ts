import { FairShares, type FairSharesOptions } from '@plinth/kernel/fair-shares';
import { ApplicationFailure } from '@temporalio/activity';
import { mayBlame, type Neighbour } from './job-failure';

/** So many activities of each of its two queues a worker runs at the same time. */
export const ACTIVITIES_MAX = 4;

/**
 * Shares the places of one queue of a worker between tenants. Who has no share fails, and comes again by the backoff of its
 * retries: what waits holds no place. However many jobs of a tenant come again and again, as where they wait for rows, it
 * has three places at most.
 */
export class WorkerShares {
  private readonly all = new FairShares(ACTIVITIES_MAX, {
    limitsUsers: false,
    timesFree: ACTIVITIES_MAX - 1,
  });
  private readonly whole: FairShares;

  private constructor(options: FairSharesOptions) {
    this.whole = new FairShares(ACTIVITIES_MAX - 1, { ...options, limitsUsers: false });
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
    return withShare(this.all, tenantId, work);
  }

  /** Runs a job, or a step of a large one, that keeps its place to the end. */
  runWhole<Result>(tenantId: string, work: () => Promise<Result>): Promise<Result> {
    return withShare(this.whole, tenantId, () => this.run(tenantId, work));
  }
}

/** The type of the failure of an activity for which there was no place. */
const SHARE = 'Share';

/** Whether an activity did not begin, as there was no place for it. */
export const isShareRefusal = (error: unknown): boolean =>
  error instanceof ApplicationFailure && error.type === SHARE;

const refusal = (message: string): ApplicationFailure => ApplicationFailure.retryable(message, SHARE);

/** The attempts that run in a process, of which none is to end it for another. */
export class Neighbours {
  private readonly running = new Set<Neighbour>();

  /** Runs the work of an attempt, unless it or one that runs may be what ends the processes of the other. */
  async run<Result>(attempt: Neighbour, work: () => Promise<Result>): Promise<Result> {
    for (const other of this.running)
      if (mayBlame(attempt, other))
        throw refusal('Another job runs whose processes ended too, and either may be why.');
    this.running.add(attempt);
    try {
      return await work();
    } finally {
      this.running.delete(attempt);
    }
  }
}

async function withShare<Result>(
  shares: FairShares,
  tenantId: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const owner = { tenantId, userId: '' };
  if (shares.take(owner))
    throw refusal('The jobs of a tenant have all places of a worker that they may have.');
  try {
    return await work();
  } finally {
    shares.give(owner);
  }
}
