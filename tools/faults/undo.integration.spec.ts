import { randomUUID } from 'node:crypto';
import { eventually } from '@plinth/testing/eventually';
import { signIn, type Client } from '../demo/client';
import { mappedImport } from '../demo/mapped-import';
import { ROWS, startCampaign } from './campaign';
import { ended } from './ended';
import { END_MILLISECONDS_MAX } from './mortal-platform';

/** `npm run faults -- undo` runs it with 100 undos of imports of 10,000 rows. */
const { FAULTS_UNDOS } = process.env;
const UNDOS = Number(FAULTS_UNDOS ?? 2);
const VICTIMS = ['data-exchange-worker', 'contacts', 'data-exchange', 'temporal', 'postgres', 'nats'];
/** About how long a process that was killed is away. */
const AWAY_MILLISECONDS = 3_000;
const NEW_EVERY = 4;
const TOUCHED_EVERY = 397;

const campaign = startCampaign({ isLarge: FAULTS_UNDOS !== undefined });

const companies = (name: string) =>
  Array.from({ length: ROWS }, (_, index) => ({
    externalId: `C-${index}`,
    name: `${name} ${index}`,
    kind: 'Customer',
    isActive: true,
  }));
type Company = ReturnType<typeof companies>[number];

async function imported(client: Client, rows: readonly Company[]): Promise<string> {
  const lines = rows.map((row) => Object.values(row).join(','));
  const content = ['externalId,name,kind,isActive', ...lines, ''].join('\r\n');
  const jobId = await mappedImport(client, 'Contacts.Companies', new Blob([content]));
  await client.call('POST', `/imports/${jobId}/execute`, { expect: [202] });
  expect((await ended(client, `/imports/${jobId}`)).status).toBe('Completed');
  return jobId;
}

/** Sends a write until it is answered; it is done once. */
const write = (
  client: Client,
  method: string,
  path: string,
  call: { body?: unknown; expect?: number[] } = {},
) => client.call(method, path, { ...call, headers: { 'idempotency-key': randomUUID() } });

/** Somebody changes some companies, deletes others, and knows people at others. */
async function touchSome(client: Client): Promise<void> {
  for (const [index, company] of companies('Mine').entries()) {
    const touch = index % TOUCHED_EVERY;
    if (touch > 2) continue;
    const { body } = await client.call('GET', `/companies?filter[externalId.eq]=${company.externalId}`);
    const { id, externalId } = body.items[0];
    if (touch === 0) await write(client, 'PUT', `/companies/${id}`, { body: company });
    if (touch === 1) await write(client, 'DELETE', `/companies/${id}`);
    const person = { externalId, lastName: 'Lovelace', channel: 'Email', company: { externalId } };
    if (touch === 2) await write(client, 'POST', '/contacts', { body: person });
  }
}

/** Two ask at once until they are answered: one undoes the import, the other one comes too late. */
async function askTwice(client: Client, jobId: string): Promise<void> {
  const ask = () => write(client, 'POST', `/imports/${jobId}/undo`, { expect: [202, 409] });
  const answers = await Promise.all([ask(), ask()]);
  expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 409]);
}

/** The rows, and the facts about them, without what differs from one tenant to the next. */
async function leftIn(tenantId: string) {
  const table = await campaign.platform.query(
    'contacts',
    `SELECT external_id, name, version, import_row FROM company WHERE tenant_id = $1 ORDER BY external_id`,
    [tenantId],
  );
  const facts = await campaign.platform.query(
    'contacts',
    `SELECT name, payload->>'externalId' AS "externalId",
       jsonb_array_length(COALESCE(payload->'ids', payload->'entityIds')) AS count
     FROM outbox WHERE tenant_id = $1 ORDER BY name, "externalId", count`,
    [tenantId],
  );
  return { table, facts };
}

/** What the timelines say: each text, how often, and of how many. */
const timelinesOf = (tenantId: string): Promise<unknown[]> =>
  campaign.platform.query(
    'timeline',
    `SELECT message_key AS key, message_values->>'en' AS text, count(*)::int, count(DISTINCT entity_id)::int AS of
     FROM entry WHERE tenant_id = $1 GROUP BY key, text ORDER BY key, text`,
    [tenantId],
  );

/** One undo of a tenant of its own: of an import that inserted some rows and updated others. */
async function runUndo(disturb: () => Promise<string[]>) {
  const tenantId = randomUUID();
  const client = await signIn(campaign.platform.url, { sub: 'faults', name: 'Faults', tenantId });
  await imported(
    client,
    companies('Former').filter((_, index) => index % NEW_EVERY !== 0),
  );
  const jobId = await imported(client, companies('New'));
  await touchSome(client);

  const killing = disturb();
  const began = Date.now();
  await askTwice(client, jobId);
  const end = await ended(client, `/imports/${jobId}/undo`);
  const milliseconds = Date.now() - began;
  const killed = await killing;
  const { importJobId: _id, requestedAt: _requestedAt, completedAt: _completedAt, ...report } = end;
  return { tenantId, milliseconds, killed, left: { report, ...(await leftIn(tenantId)) } };
}

/** Somebody is dead when the undo is asked for; others die in the middle of it, or of what goes on again. */
async function killBeforeAndDuring(index: number, milliseconds: number): Promise<string[]> {
  const first = VICTIMS[index % VICTIMS.length]!;
  campaign.platform.kill(first);
  return [
    first,
    ...(await campaign.platform.killSome(VICTIMS, milliseconds + campaign.random() * AWAY_MILLISECONDS)),
  ];
}

/** Until the timelines of all tenants say the same of as many rows. */
const untilSaid = (tenantIds: readonly string[], restoredRows: number) =>
  eventually(async () => {
    const [one, ...others] = await Promise.all(tenantIds.map(timelinesOf));
    const restored = { key: 'entity.noted', text: 'Import undone.', count: restoredRows, of: restoredRows };
    expect(one).toContainEqual(restored);
    for (const other of others) expect(other).toEqual(one);
    return true;
  }, END_MILLISECONDS_MAX);

describe('undos of imports in the middle of which processes are killed', () => {
  it(
    'end in time, with the table, the report, the facts and the timelines of one that nobody disturbed',
    async () => {
      const undisturbed = await runUndo(async () => []);
      const { report } = undisturbed.left;
      const reasons = report.kept.map(({ reason }: { reason: string }) => reason);
      expect(new Set(reasons)).toEqual(new Set(['ChangedSince', 'DeletedSince', 'InUse']));
      expect(report.removedRows).toBeGreaterThan(ROWS * 0.2);
      expect(report.restoredRows).toBeGreaterThan(ROWS * 0.7);

      const tenantIds = [undisturbed.tenantId];
      const times: number[] = [];
      for (let index = 0; index < UNDOS; index++) {
        const { tenantId, milliseconds, killed, left } = await runUndo(() =>
          killBeforeAndDuring(index, undisturbed.milliseconds),
        );
        tenantIds.push(tenantId);
        times.push(milliseconds);
        expect({ index, killed, ...left }).toEqual({ index, killed, ...undisturbed.left });
        expect(milliseconds).toBeLessThan(END_MILLISECONDS_MAX);
      }
      await untilSaid(tenantIds, report.restoredRows);
      campaign.pass({ what: 'undos of imports', milliseconds: times, undisturbed: undisturbed.milliseconds });
    },
    180_000 + UNDOS * (END_MILLISECONDS_MAX + 60_000),
  );
});
