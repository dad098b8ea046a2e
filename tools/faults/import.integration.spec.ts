import { randomUUID } from 'node:crypto';
import { seededRandom } from '@plinth/testing/seeded-random';
import { signIn, type Client } from '../demo/client';
import { toldFigures } from './figures';
import { ended, mapped } from './imports';
import { END_MILLISECONDS_MAX, startMortalPlatform, type MortalPlatform } from './mortal-platform';

/** `npm run faults -- import` runs it with 200 imports of 10,000 rows. */
const { FAULTS_IMPORTS } = process.env;
const IMPORTS = Number(FAULTS_IMPORTS ?? 2);
const ROWS = Number(process.env['FAULTS_ROWS'] ?? 3_000);
const SEED = Number(process.env['FAULTS_SEED'] ?? 1);
const VICTIMS = ['data-exchange-worker', 'data-exchange', 'localization', 'postgres', 'nats', 'temporal'];
const BROKEN_EVERY = 97;

const random = seededRandom(SEED);

let platform: MortalPlatform;
let hasPassed = false;

beforeAll(async () => {
  platform = await startMortalPlatform(random);
}, 300_000);

afterAll(() => platform.stop({ keepsLogs: FAULTS_IMPORTS !== undefined && !hasPassed }), 120_000);

/** Some rows without a value that they need, some with a key that was there before, some with quotes and newlines. */
function someFile(): string {
  const lines = Array.from({ length: ROWS }, (_, index) => {
    const key = index % BROKEN_EVERY === 5 ? `key.${index - 1}` : `key.${index}`;
    const culture = index % BROKEN_EVERY === 3 ? 'no culture' : 'en';
    return `Faults,${culture},${key},"Value ""${index}""\nof ${Math.floor(random() * 1e6)}"`;
  });
  return ['resource,culture,key,value', ...lines, ''].join('\r\n');
}

/** Everything that an import leaves behind, without what differs from one to the next. */
async function leftBy(client: Client, tenantId: string, jobId: string) {
  const {
    importJobId: _id,
    duration: _duration,
    ...report
  } = (await client.call('GET', `/imports/${jobId}/report`)).body;
  const correctionFile = (await client.call('GET', `/imports/${jobId}/correction-file`)).text;
  const table = await platform.query(
    'localization',
    `SELECT resource_name, culture_name, key, value, version, import_row FROM override
     WHERE tenant_id = $1 ORDER BY key`,
    [tenantId],
  );
  return { report, correctionFile, table };
}

/** One import of a tenant of its own. */
async function runImport(content: string, disturb: () => Promise<string[]>) {
  const tenantId = randomUUID();
  const client = await signIn(platform.url, { sub: 'faults', name: 'Faults', tenantId });
  const jobId = await mapped(client, 'Localization.Overrides', content);
  await client.call('POST', `/imports/${jobId}/execute`, { expect: [202] });
  const began = Date.now();
  const [killed] = await Promise.all([disturb(), ended(client, `/imports/${jobId}`)]);
  const milliseconds = Date.now() - began;
  return { left: await leftBy(client, tenantId, jobId), milliseconds, killed };
}

describe('imports in the middle of which processes are killed', () => {
  it(
    'end in time, with the table, the report and the correction file of one that nobody disturbed',
    async () => {
      const content = someFile();
      const undisturbed = await runImport(content, async () => []);
      expect(undisturbed.left.table.length).toBeGreaterThan(ROWS * 0.9);
      expect(undisturbed.left.report.failedRows).toBeGreaterThan(0);

      const times: number[] = [];
      for (let index = 0; index < IMPORTS; index++) {
        const { left, milliseconds, killed } = await runImport(content, () =>
          platform.killSome(VICTIMS, undisturbed.milliseconds),
        );
        times.push(milliseconds);
        expect({ index, killed, ...left }).toEqual({ index, killed, ...undisturbed.left });
        expect(milliseconds).toBeLessThan(END_MILLISECONDS_MAX);
      }
      hasPassed = true;
      if (FAULTS_IMPORTS === undefined) return;
      console.log(
        toldFigures({
          what: `imports of ${ROWS} rows, seed ${SEED}`,
          milliseconds: times,
          undisturbed: undisturbed.milliseconds,
          kills: platform.kills,
        }),
      );
    },
    60_000 + IMPORTS * (END_MILLISECONDS_MAX + 60_000),
  );
});
