import { seededRandom } from '@plinth/testing/seeded-random';
import { formatReport, type CampaignResult } from './report';
import { sharedChaosPlatform, startChaosPlatform, type ChaosPlatform } from './chaos-platform';

export const ROWS = Number(process.env['FAULTS_ROWS'] ?? 3_000);
const SEED = Number(process.env['FAULTS_SEED'] ?? 1);

/**
 * A platform for the tests of a file, whose processes they may kill. The small campaigns of the suite share one; a large
 * campaign, which its command runs, has its own, prints a report, and keeps the logs when it fails.
 */
export function startCampaign({ isLarge }: { isLarge: boolean }) {
  const random = seededRandom(SEED);
  let platform: ChaosPlatform;
  let stop = async (): Promise<void> => {};
  let hasPassed = false;

  beforeAll(async () => {
    if (!isLarge) {
      platform = await sharedChaosPlatform(random);
      return;
    }
    const ownPlatform = await startChaosPlatform(random);
    stop = () => ownPlatform.stop({ keepsLogs: !hasPassed });
    platform = ownPlatform;
  }, 300_000);

  afterAll(() => stop(), 120_000);

  return {
    random,
    get platform(): ChaosPlatform {
      return platform;
    },
    /** Marks the campaign as passed. */
    pass(jobs?: Omit<CampaignResult, 'kills'>): void {
      hasPassed = true;
      if (!isLarge || jobs === undefined) return;
      const { what, ...result } = jobs;
      const { kills } = platform;
      console.log(formatReport({ ...result, what: `${what} of ${ROWS} rows, seed ${SEED}`, kills }));
    },
  };
}
