import { randomUUID } from 'node:crypto';
import { signIn, type Client } from '../../development/demo/client';
import { mappedImport } from '../../development/demo/mapped-import';
import { ROWS, startCampaign } from './campaign';
import { waitForCompletion } from './wait-for-completion';
import { COMPLETION_MILLISECONDS_MAX, WORKBOOK_READERS } from './chaos-platform';
import { cellsOf, filesOf, type RowsFile } from './rows-file';

/** `npm run faults -- import` runs it with 200 imports of 10,000 rows, every other one of a workbook. */
const { FAULTS_IMPORTS } = process.env;
const IMPORTS = Number(FAULTS_IMPORTS ?? 2);
const KILLED_PROCESSES = [
  'data-exchange-worker',
  'data-exchange',
  'localization',
  'postgres',
  'nats',
  'temporal',
  WORKBOOK_READERS,
];
const BROKEN_EVERY = 97;

const campaign = startCampaign({ isLarge: FAULTS_IMPORTS !== undefined });

/** Some rows lack a required value, some have a duplicate key, all have quotes and newlines. */
function rowsToImport(): string[][] {
  const rows = Array.from({ length: ROWS }, (_, index) => {
    const key = index % BROKEN_EVERY === 5 ? `key.${index - 1}` : `key.${index}`;
    const culture = index % BROKEN_EVERY === 3 ? 'no culture' : 'en';
    return ['Faults', culture, key, `Value "${index}"\nof ${Math.floor(campaign.random() * 1e6)}`];
  });
  return [['resource', 'culture', 'key', 'value'], ...rows];
}

/** Everything that an import leaves behind, without what differs between imports. */
async function stateAfter(client: Client, tenantId: string, jobId: string, isWorkbook: boolean) {
  const report = withoutJob((await client.call('GET', `/imports/${jobId}/report`)).body);
  const { bytes, text } = await client.call('GET', `/imports/${jobId}/correction-file`);
  const correctionFile = isWorkbook ? await cellsOf(bytes) : text;
  const table = await campaign.platform.query(
    'localization',
    `SELECT resource_name, culture_name, key, value, version, import_row FROM override
     WHERE tenant_id = $1 ORDER BY key`,
    [tenantId],
  );
  return { report, correctionFile, table };
}

const withoutJob = ({ importJobId: _id, duration: _duration, ...report }: Record<string, unknown>) => report;

/** One import of a tenant of its own, which is tried before it is executed. */
async function runImport({ name, content }: RowsFile, injectFaults: () => Promise<string[]>) {
  const tenantId = randomUUID();
  const client = await signIn(campaign.platform.url, { sub: 'faults', name: 'Faults', tenantId });
  const jobId = await mappedImport(client, 'Localization.Overrides', content, name);
  const startedAt = Date.now();
  const tryAndExecute = async () => {
    const tried = await client.call('POST', `/imports/${jobId}/dry-run`);
    // Whoever was to respond may be killed, and the client sends it again.
    const headers = { 'idempotency-key': randomUUID() };
    await client.call('POST', `/imports/${jobId}/execute`, { headers, expect: [202] });
    await waitForCompletion(client, `/imports/${jobId}`);
    return withoutJob(tried.body);
  };
  const [killed, tried] = await Promise.all([injectFaults(), tryAndExecute()]);
  const milliseconds = Date.now() - startedAt;
  const state = { tried, ...(await stateAfter(client, tenantId, jobId, name.endsWith('.xlsx'))) };
  return { state, milliseconds, killed };
}

describe('an import during which processes are killed', () => {
  it(
    'ends in time, with the table, the report and the correction file of an undisturbed one',
    async () => {
      const files = await filesOf(rowsToImport());
      const undisturbed = [];
      for (const file of files) undisturbed.push(await runImport(file, async () => []));
      const [ofText, ofWorkbook] = undisturbed.map(({ state }) => state);
      expect(ofText!.table.length).toBeGreaterThan(ROWS * 0.9);
      expect(ofText!.report['failedRows']).toBeGreaterThan(0);
      expect(ofWorkbook).toMatchObject({ table: ofText!.table, report: { totalRows: ROWS } });

      await campaign.repeatUnderKills({
        what: 'imports',
        count: IMPORTS,
        processes: KILLED_PROCESSES,
        undisturbed,
        run: (kind, injectFaults) => runImport(files[kind]!, injectFaults),
      });
    },
    60_000 + IMPORTS * (COMPLETION_MILLISECONDS_MAX + 60_000),
  );
});
