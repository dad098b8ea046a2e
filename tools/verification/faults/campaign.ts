import { seededRandom } from '@plinth/testing/seeded-random';
import { formatReport, type CampaignResult } from './report';
import { startChaosPlatform, type ChaosPlatform } from './chaos-platform';

export const ROWS = Number(process.env['FAULTS_ROWS'] ?? 3_000);
const SEED = Number(process.env['FAULTS_SEED'] ?? 1);

/**
 * Starts a platform for the tests of a file, whose processes they may kill. A large campaign, which its command runs,
 * prints a report, and keeps the logs when it fails.
 */
export function startCampaign({ isLarge }: { isLarge: boolean }) {
  const random = seededRandom(SEED);
  let platform: ChaosPlatform;
  let hasPassed = false;

  beforeAll(async () => {
    platform = await startChaosPlatform(random);
  }, 300_000);

  afterAll(() => platform.stop({ keepsLogs: isLarge && !hasPassed }), 120_000);

  return {
    random,
    get platform(): ChaosPlatform {
      return platform;
    },
    /** Marks the campaign as passed. */
    pass({ what, ...result }: Omit<CampaignResult, 'kills'>): void {
      hasPassed = true;
      if (!isLarge) return;
      const { kills } = platform;
      console.log(formatReport({ ...result, what: `${what} of ${ROWS} rows, seed ${SEED}`, kills }));
    },
  };
}
