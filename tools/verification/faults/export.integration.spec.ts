import { randomUUID } from 'node:crypto';
import { signIn, type Client } from '../../development/demo/client';
import { mappedImport } from '../../development/demo/mapped-import';
import { ROWS, startCampaign } from './campaign';
import { COMPLETION_MILLISECONDS_MAX } from './chaos-platform';
import { cellsOf, filesOf } from './rows-file';
import { waitForCompletion } from './wait-for-completion';

/** `npm run faults -- export` runs it with 100 exports of 10,000 rows, every other one to a workbook. */
const { FAULTS_EXPORTS } = process.env;
const EXPORTS = Number(FAULTS_EXPORTS ?? 1);
const KILLED_PROCESSES = [
  'data-exchange-worker',
  'data-exchange',
  'localization',
  'postgres',
  'nats',
  'temporal',
];
const FORMATS = ['xlsx', 'csv'] as const;
type Format = (typeof FORMATS)[number];

const campaign = startCampaign({ isLarge: FAULTS_EXPORTS !== undefined });

async function fill(client: Client): Promise<void> {
  const rows = Array.from({ length: ROWS }, (_, index) => [
    'Faults',
    'en',
    `key.${index}`,
    `Value "${index}"`,
  ]);
  const [file] = await filesOf([['resource', 'culture', 'key', 'value'], ...rows]);
  const jobId = await mappedImport(client, 'Localization.Overrides', file!.content);
  await client.call('POST', `/imports/${jobId}/execute`, { expect: [202] });
  expect((await waitForCompletion(client, `/imports/${jobId}`)).status).toBe('Completed');
}

/** The rows of an export, in any order. */
async function runExport(client: Client, format: Format, injectFaults: () => Promise<string[]>) {
  const startedAt = Date.now();
  const exportAll = async () => {
    const { body: job } = await client.call('POST', '/exports/jobs', {
      body: { definitionName: 'Localization.Overrides', format },
      headers: { 'idempotency-key': randomUUID() },
    });
    const { status, rowCount } = await waitForCompletion(client, `/exports/jobs/${job.id}`);
    const { bytes, text } = await client.call('GET', `/exports/jobs/${job.id}/download`);
    const rows = format === 'xlsx' ? await cellsOf(bytes) : text.split('\r\n');
    return { status, rowCount, rows: rows.map(String).sort() };
  };
  const [killed, state] = await Promise.all([injectFaults(), exportAll()]);
  return { state, milliseconds: Date.now() - startedAt, killed };
}

describe('an export during which processes are killed', () => {
  it(
    'ends in time, with the rows of an undisturbed one',
    async () => {
      const person = { sub: 'faults', name: 'Faults', tenantId: randomUUID() };
      const client = await signIn(campaign.platform.url, person);
      await fill(client);
      const undisturbed = [];
      for (const format of FORMATS) undisturbed.push(await runExport(client, format, async () => []));
      for (const { state } of undisturbed)
        expect(state).toMatchObject({ status: 'Completed', rowCount: ROWS });
      expect(undisturbed[0]!.state.rows).toHaveLength(ROWS + 1);

      await campaign.repeatUnderKills({
        what: 'exports',
        count: EXPORTS,
        processes: KILLED_PROCESSES,
        undisturbed,
        run: (kind, injectFaults) => runExport(client, FORMATS[kind]!, injectFaults),
      });
    },
    60_000 + EXPORTS * (COMPLETION_MILLISECONDS_MAX + 60_000),
  );
});
