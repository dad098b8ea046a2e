import { randomUUID } from 'node:crypto';
import { signIn, type Client } from '../../development/demo/client';
import { mappedImport } from '../../development/demo/mapped-import';
import { ROWS, startCampaign } from './campaign';
import { waitForCompletion } from './wait-for-completion';
import { COMPLETION_MILLISECONDS_MAX } from './chaos-platform';

/** `npm run faults -- import` runs it with 200 imports of 10,000 rows. */
const { FAULTS_IMPORTS } = process.env;
const IMPORTS = Number(FAULTS_IMPORTS ?? 2);
const KILLED_PROCESSES = [
  'data-exchange-worker',
  'data-exchange',
  'localization',
  'postgres',
  'nats',
  'temporal',
];
const BROKEN_EVERY = 97;

const campaign = startCampaign({ isLarge: FAULTS_IMPORTS !== undefined });

/** Some rows lack a required value, some have a duplicate key, all have quotes and newlines. */
function importFile(): string {
  const lines = Array.from({ length: ROWS }, (_, index) => {
    const key = index % BROKEN_EVERY === 5 ? `key.${index - 1}` : `key.${index}`;
    const culture = index % BROKEN_EVERY === 3 ? 'no culture' : 'en';
    return `Faults,${culture},${key},"Value ""${index}""\nof ${Math.floor(campaign.random() * 1e6)}"`;
  });
  return ['resource,culture,key,value', ...lines, ''].join('\r\n');
}

/** Everything that an import leaves behind, without what differs between imports. */
async function stateAfter(client: Client, tenantId: string, jobId: string) {
  const {
    importJobId: _id,
    duration: _duration,
    ...report
  } = (await client.call('GET', `/imports/${jobId}/report`)).body;
  const correctionFile = (await client.call('GET', `/imports/${jobId}/correction-file`)).text;
  const table = await campaign.platform.query(
    'localization',
    `SELECT resource_name, culture_name, key, value, version, import_row FROM override
     WHERE tenant_id = $1 ORDER BY key`,
    [tenantId],
  );
  return { report, correctionFile, table };
}

/** One import of a tenant of its own. */
async function runImport(content: string, injectFaults: () => Promise<string[]>) {
  const tenantId = randomUUID();
  const client = await signIn(campaign.platform.url, { sub: 'faults', name: 'Faults', tenantId });
  const jobId = await mappedImport(client, 'Localization.Overrides', new Blob([content]));
  await client.call('POST', `/imports/${jobId}/execute`, { expect: [202] });
  const startedAt = Date.now();
  const [killed] = await Promise.all([injectFaults(), waitForCompletion(client, `/imports/${jobId}`)]);
  const milliseconds = Date.now() - startedAt;
  return { state: await stateAfter(client, tenantId, jobId), milliseconds, killed };
}

describe('an import during which processes are killed', () => {
  it(
    'ends in time, with the table, the report and the correction file of an undisturbed one',
    async () => {
      const content = importFile();
      const undisturbed = await runImport(content, async () => []);
      expect(undisturbed.state.table.length).toBeGreaterThan(ROWS * 0.9);
      expect(undisturbed.state.report.failedRows).toBeGreaterThan(0);

      const times: number[] = [];
      for (let index = 0; index < IMPORTS; index++) {
        const { state, milliseconds, killed } = await runImport(content, () =>
          campaign.platform.killRandomly(KILLED_PROCESSES, undisturbed.milliseconds),
        );
        times.push(milliseconds);
        expect({ index, killed, ...state }).toEqual({ index, killed, ...undisturbed.state });
        expect(milliseconds).toBeLessThan(COMPLETION_MILLISECONDS_MAX);
      }
      campaign.pass({ what: 'imports', milliseconds: times, undisturbed: undisturbed.milliseconds });
    },
    60_000 + IMPORTS * (COMPLETION_MILLISECONDS_MAX + 60_000),
  );
});
