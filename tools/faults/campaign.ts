import { seededRandom } from '@plinth/testing/seeded-random';
import { toldFigures, type Figures } from './figures';
import { startMortalPlatform, type MortalPlatform } from './mortal-platform';

export const ROWS = Number(process.env['FAULTS_ROWS'] ?? 3_000);
const SEED = Number(process.env['FAULTS_SEED'] ?? 1);

/**
 * Gives the tests of a file a platform whose processes they may kill. A large campaign, which its command runs, tells
 * its figures, and keeps the logs of one that failed.
 */
export function startCampaign({ isLarge }: { isLarge: boolean }) {
  const random = seededRandom(SEED);
  let platform: MortalPlatform;
  let hasPassed = false;

  beforeAll(async () => {
    platform = await startMortalPlatform(random);
  }, 300_000);

  afterAll(() => platform.stop({ keepsLogs: isLarge && !hasPassed }), 120_000);

  return {
    random,
    get platform(): MortalPlatform {
      return platform;
    },
    /** Everything was as it should be. */
    pass({ what, ...figures }: Omit<Figures, 'kills'>): void {
      hasPassed = true;
      if (!isLarge) return;
      const { kills } = platform;
      console.log(toldFigures({ ...figures, what: `${what} of ${ROWS} rows, seed ${SEED}`, kills }));
    },
  };
}
