import { seededRandom } from '@plinth/testing/seeded-random';
import { formatReport, type CampaignResult } from './report';
import {
  COMPLETION_MILLISECONDS_MAX,
  sharedChaosPlatform,
  startChaosPlatform,
  type ChaosPlatform,
} from './chaos-platform';

export const ROWS = Number(process.env['FAULTS_ROWS'] ?? 3_000);
const SEED = Number(process.env['FAULTS_SEED'] ?? 1);

/** What a job left, and how long it took. */
interface Run {
  state: object;
  milliseconds: number;
}

/** Jobs of some kinds, which take turns. */
interface Repeated {
  what: string;
  count: number;
  processes: readonly string[];
  /** One of each kind. */
  undisturbed: readonly Run[];
  run(kind: number, injectFaults: () => Promise<string[]>): Promise<Run & { killed: string[] }>;
}

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
  });

  afterAll(() => stop());

  const pass = (jobs?: Omit<CampaignResult, 'kills'>): void => {
    hasPassed = true;
    if (!isLarge || jobs === undefined) return;
    const { what, ...result } = jobs;
    const { kills } = platform;
    console.log(formatReport({ ...result, what: `${what} of ${ROWS} rows, seed ${SEED}`, kills }));
  };

  return {
    random,
    get platform(): ChaosPlatform {
      return platform;
    },
    /** Marks the campaign as passed. */
    pass,
    /** Repeats jobs while processes are killed; passes when each ends in time and leaves what an undisturbed one leaves. */
    async repeatUnderKills({ what, count, processes, undisturbed, run }: Repeated): Promise<void> {
      const times: number[] = [];
      for (let index = 0; index < count; index++) {
        const kind = index % undisturbed.length;
        const usual = undisturbed[kind]!;
        const { state, milliseconds, killed } = await run(kind, () =>
          platform.killRandomly(processes, usual.milliseconds),
        );
        times.push(milliseconds);
        expect({ index, killed, ...state }).toEqual({ index, killed, ...usual.state });
        expect(milliseconds).toBeLessThan(COMPLETION_MILLISECONDS_MAX);
      }
      pass({
        what,
        milliseconds: times,
        undisturbed: Math.max(...undisturbed.map(({ milliseconds }) => milliseconds)),
      });
    },
  };
}
