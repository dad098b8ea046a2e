import { randomUUID } from 'node:crypto';
import { eventually } from '@plinth/testing/eventually';
import { signIn, type Client } from '../../development/demo/client';
import { mappedImport } from '../../development/demo/mapped-import';
import { ROWS, startCampaign } from './campaign';
import { waitForCompletion } from './wait-for-completion';
import { COMPLETION_MILLISECONDS_MAX } from './chaos-platform';

/** `npm run faults -- undo` runs it with 100 undos of imports of 10,000 rows. */
const { FAULTS_UNDOS } = process.env;
const UNDOS = Number(FAULTS_UNDOS ?? 2);
const KILLED_PROCESSES = [
  'data-exchange-worker',
  'contacts',
  'data-exchange',
  'temporal',
  'postgres',
  'nats',
];
/** About how long it takes until a killed process runs again. */
const RESTART_MILLISECONDS = 3_000;
const NEW_EVERY = 4;
const CHANGED_EVERY = 397;

const campaign = startCampaign({ isLarge: FAULTS_UNDOS !== undefined });

const companies = (name: string) =>
  Array.from({ length: ROWS }, (_, index) => ({
    externalId: `C-${index}`,
    name: `${name} ${index}`,
    kind: 'Customer',
    isActive: true,
  }));
type Company = ReturnType<typeof companies>[number];

async function importCompanies(client: Client, rows: readonly Company[]): Promise<string> {
  const lines = rows.map((row) => Object.values(row).join(','));
  const content = ['externalId,name,kind,isActive', ...lines, ''].join('\r\n');
  const jobId = await mappedImport(client, 'Contacts.Companies', new Blob([content]));
  await client.call('POST', `/imports/${jobId}/execute`, { expect: [202] });
  expect((await waitForCompletion(client, `/imports/${jobId}`)).status).toBe('Completed');
  return jobId;
}

/** Sends a write until there is a response; its effect happens once. */
const write = (
  client: Client,
  method: string,
  path: string,
  call: { body?: unknown; expect?: number[] } = {},
) => client.call(method, path, { ...call, headers: { 'idempotency-key': randomUUID() } });

/** Changes some companies, deletes others, and adds contacts to others. */
async function changeSome(client: Client): Promise<void> {
  for (const [index, company] of companies('Mine').entries()) {
    const change = index % CHANGED_EVERY;
    if (change > 2) continue;
    const { body } = await client.call('GET', `/companies?filter[externalId.eq]=${company.externalId}`);
    const { id, externalId } = body.items[0];
    if (change === 0) await write(client, 'PUT', `/companies/${id}`, { body: company });
    if (change === 1) await write(client, 'DELETE', `/companies/${id}`);
    const person = { externalId, lastName: 'Lovelace', channel: 'Email', company: { externalId } };
    if (change === 2) await write(client, 'POST', '/contacts', { body: person });
  }
}

/** Sends two undo requests at once: one is accepted, the other one is a conflict. */
async function requestUndoTwice(client: Client, jobId: string): Promise<void> {
  const request = () => write(client, 'POST', `/imports/${jobId}/undo`, { expect: [202, 409] });
  const responses = await Promise.all([request(), request()]);
  expect(responses.map(({ status }) => status).toSorted()).toEqual([202, 409]);
}

/** The rows, and the published events about them, without what differs between tenants. */
async function stateOf(tenantId: string) {
  const table = await campaign.platform.query(
    'contacts',
    `SELECT external_id, name, version, import_row FROM company WHERE tenant_id = $1 ORDER BY external_id`,
    [tenantId],
  );
  const events = await campaign.platform.query(
    'contacts',
    `SELECT name, payload->>'externalId' AS "externalId",
       jsonb_array_length(COALESCE(payload->'ids', payload->'entityIds')) AS count
     FROM outbox WHERE tenant_id = $1 ORDER BY name, "externalId", count`,
    [tenantId],
  );
  return { table, events };
}

/** The entries of the timelines: each text, how often, and of how many entities. */
const timelinesOf = (tenantId: string): Promise<unknown[]> =>
  campaign.platform.query(
    'timeline',
    `SELECT message_key AS key, message_values->>'en' AS text, count(*)::int, count(DISTINCT entity_id)::int AS of
     FROM timeline_entry WHERE tenant_id = $1 GROUP BY key, text ORDER BY key, text`,
    [tenantId],
  );

/** The undo of an import that inserted some rows and updated others, in a tenant of its own. */
async function runUndo(injectFaults: () => Promise<string[]>) {
  const tenantId = randomUUID();
  const client = await signIn(campaign.platform.url, { sub: 'faults', name: 'Faults', tenantId });
  await importCompanies(
    client,
    companies('Former').filter((_, index) => index % NEW_EVERY !== 0),
  );
  const jobId = await importCompanies(client, companies('New'));
  await changeSome(client);

  const killing = injectFaults();
  const startedAt = Date.now();
  await requestUndoTwice(client, jobId);
  const end = await waitForCompletion(client, `/imports/${jobId}/undo`);
  const milliseconds = Date.now() - startedAt;
  const killed = await killing;
  const { importJobId: _id, requestedAt: _requestedAt, completedAt: _completedAt, ...report } = end;
  return { tenantId, milliseconds, killed, state: { report, ...(await stateOf(tenantId)) } };
}

/** One process is killed before the undo is requested, others during the undo or what follows it. */
async function killBeforeAndDuring(index: number, milliseconds: number): Promise<string[]> {
  const first = KILLED_PROCESSES[index % KILLED_PROCESSES.length]!;
  campaign.platform.kill(first);
  return [
    first,
    ...(await campaign.platform.killRandomly(
      KILLED_PROCESSES,
      milliseconds + campaign.random() * RESTART_MILLISECONDS,
    )),
  ];
}

/** Waits until the timelines of all tenants have the same entries for as many rows. */
const waitForTimelines = (tenantIds: readonly string[], restoredRows: number) =>
  eventually(async () => {
    const [one, ...others] = await Promise.all(tenantIds.map(timelinesOf));
    const restored = { key: 'entity.noted', text: 'Import undone.', count: restoredRows, of: restoredRows };
    expect(one).toContainEqual(restored);
    for (const other of others) expect(other).toEqual(one);
    return true;
  }, COMPLETION_MILLISECONDS_MAX);

describe('an undo of an import during which processes are killed', () => {
  it(
    'ends in time, with the table, the report, the events and the timelines of an undisturbed one',
    async () => {
      const undisturbed = await runUndo(async () => []);
      const { report } = undisturbed.state;
      const reasons = report.kept.map(({ reason }: { reason: string }) => reason);
      expect(new Set(reasons)).toEqual(new Set(['ChangedSince', 'DeletedSince', 'InUse']));
      expect(report.removedRows).toBeGreaterThan(ROWS * 0.2);
      expect(report.restoredRows).toBeGreaterThan(ROWS * 0.7);

      const tenantIds = [undisturbed.tenantId];
      const times: number[] = [];
      for (let index = 0; index < UNDOS; index++) {
        const { tenantId, milliseconds, killed, state } = await runUndo(() =>
          killBeforeAndDuring(index, undisturbed.milliseconds),
        );
        tenantIds.push(tenantId);
        times.push(milliseconds);
        expect({ index, killed, ...state }).toEqual({ index, killed, ...undisturbed.state });
        expect(milliseconds).toBeLessThan(COMPLETION_MILLISECONDS_MAX);
      }
      await waitForTimelines(tenantIds, report.restoredRows);
      campaign.pass({ what: 'undos of imports', milliseconds: times, undisturbed: undisturbed.milliseconds });
    },
    180_000 + UNDOS * (COMPLETION_MILLISECONDS_MAX + 60_000),
  );
});
