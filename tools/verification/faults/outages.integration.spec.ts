import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '@plinth/testing/eventually';
import { signIn, type Client } from '../../development/demo/client';
import { mappedImport } from '../../development/demo/mapped-import';
import { tokenOf } from '../bench/token';
import { ROWS, startCampaign } from './campaign';
import { startLoad, type FailedRequest } from './load';
import { ENTITY, followNotifications, requireNotifiedOnce, writeEntries } from './entries';
import { filesOf } from './rows-file';
import { waitForCompletion } from './wait-for-completion';

/** `npm run faults -- outages` takes each of them away for 10 s. */
const SECONDS = Number(process.env['FAULTS_SECONDS'] ?? 1);
const isLarge = process.env['FAULTS_SECONDS'] !== undefined;
const ONLY = process.env['FAULTS_ONLY'] ?? 'all';
const REQUESTS_PER_SECOND = Number(process.env['FAULTS_RATE'] ?? 20);

/** The suite takes the one that all requests need. */
const SERVERS = isLarge ? ['postgres', 'redis', 'nats', 'temporal'] : ['postgres'];
type Outage = 'frozen' | 'killed' | 'read-only';
const outagesOf = (server: string): Outage[] => {
  if (!isLarge) return ['frozen'];
  // As a replica is that takes over, until it is the primary.
  return server === 'postgres' ? ['frozen', 'killed', 'read-only'] : ['frozen', 'killed'];
};
const taken = SERVERS.filter((server) => ONLY === 'all' || ONLY.split(',').includes(server)).flatMap(
  (server) => outagesOf(server).map((outage) => ({ server, outage })),
);

/** The gateway gives up on a service after 30 s. */
const RESPONSE_MILLISECONDS_MAX = 35_000;
const RECOVERY_MILLISECONDS_MAX = isLarge ? 90_000 : 240_000;
const FAILURES_SHOWN_MAX = 5;
const SERVICES = [
  'contacts',
  'data_exchange',
  'localization',
  'settings',
  'template',
  'timeline',
  'workflow',
];

const campaign = startCampaign({ isLarge });

/** Takes a server away for a while. */
async function takeAway(server: string, outage: Outage): Promise<void> {
  if (outage === 'killed') return campaign.platform.kill(server);
  if (outage === 'read-only') {
    await setReadOnly('on');
    return pause(SECONDS * 1_000).finally(() => setReadOnly('off'));
  }
  const thaw = campaign.platform.freeze(server);
  await pause(SECONDS * 1_000).finally(thaw);
}

/** Has Postgres refuse to write, in the transactions that begin from now on. */
async function setReadOnly(value: 'on' | 'off'): Promise<void> {
  const { query } = campaign.platform;
  await query('settings', `ALTER SYSTEM SET default_transaction_read_only = ${value}`, []);
  await query('settings', 'SELECT pg_reload_conf()', []);
}

/** The number of inserted rows of an import that is executed now. */
async function runImport(client: Client, jobId: string): Promise<number> {
  await client.call('POST', `/imports/${jobId}/execute`, { expect: [202] });
  await waitForCompletion(client, `/imports/${jobId}`);
  return (await client.call('GET', `/imports/${jobId}/report`)).body.insertedRows;
}

async function runExport(client: Client): Promise<string> {
  const body = { definitionName: 'Localization.Overrides', format: 'xlsx' };
  const headers = { 'idempotency-key': randomUUID() };
  const { body: job } = await client.call('POST', '/exports/jobs', { body, headers });
  return (await waitForCompletion(client, `/exports/jobs/${job.id}`)).status;
}

/** What no service may have left: unpublished and stored events, dead letters, transactions that nobody ends, places taken. */
async function leftovers(tenantId: string): Promise<Record<string, unknown>[]> {
  const found = await Promise.all(
    SERVICES.map(async (service) => {
      const [row] = (await campaign.platform.query(
        service,
        `SELECT (SELECT count(*)::int FROM outbox WHERE published_at IS NULL) AS unpublished,
           (SELECT count(*)::int FROM waiting_event) AS waiting,
           (SELECT count(*)::int FROM dead_letter WHERE tenant_id = $1::uuid) AS dead,
           (SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database()
              AND state LIKE 'idle in transaction%' AND now() - state_change > interval '5 seconds') AS idle`,
        [tenantId],
      )) as Record<string, number>[];
      return { service, ...row };
    }),
  );
  const places = await campaign.platform.placesTaken();
  if (Object.keys(places).length > 0) return [places];
  return found.filter(({ service: _service, ...counts }) =>
    Object.values(counts).some((count) => count !== 0),
  );
}

const shown = (failures: readonly FailedRequest[]) =>
  failures.slice(0, FAILURES_SHOWN_MAX).map(({ request, outcome }) => `${request}: ${outcome.slice(0, 200)}`);

describe('a platform of which a server is away for a while', () => {
  it.each(taken)(
    'says so to every request, and goes on with everything when $server, which was $outage, is back',
    async ({ server, outage }) => {
      const { platform } = campaign;
      const tenantId = randomUUID();
      const person = (sub: string) => signIn(platform.url, { sub, name: sub, tenantId });
      const [ann, bob] = [await person('ann'), await person('bob')];
      await bob.call('POST', `${ENTITY}/follow`);
      const rows = Array.from({ length: ROWS }, (_, index) => ['Outages', 'en', `key.${index}`, 'value']);
      const files = await filesOf([['resource', 'culture', 'key', 'value'], ...rows]);
      const owners = await Promise.all(
        files.map(() => signIn(platform.url, { sub: 'ann', name: 'ann', tenantId: randomUUID() })),
      );
      const jobs: string[] = [];
      for (const [index, { name, content }] of files.entries())
        jobs.push(await mappedImport(owners[index]!, 'Localization.Overrides', content, name));

      const processIds = () => SERVICES.map((service) => platform.processId(service.replace('_', '-')));
      const before = processIds();
      const token = await tokenOf(platform.url, { tenantId: randomUUID(), roles: ['admin'] });
      const ofBob = { tenantId, sub: 'bob', name: 'bob', roles: ['admin'] };
      const stream = followNotifications(platform.url, await tokenOf(platform.url, ofBob));
      const load = startLoad(platform.url, token, REQUESTS_PER_SECOND);
      const stopWriting = writeEntries(ann);
      const working = Promise.all([
        ...jobs.map((job, index) => runImport(owners[index]!, job)),
        runExport(ann),
      ]);
      await pause(500);
      await takeAway(server, outage);
      const backAt = performance.now();
      const results = await working;
      const written = await stopWriting();
      const { requests, failures, millisecondsMax } = await load.stop();
      await eventually(async () => {
        const left = await leftovers(tenantId);
        if (left.length > 0) throw new Error(JSON.stringify(left));
        return true;
      }, RECOVERY_MILLISECONDS_MAX);
      const wellAfter = performance.now() - backAt;
      const last = await ann.call('POST', `${ENTITY}/entries`, { body: { entryType: 0, body: 'last' } });
      written.push(last.body.id);
      await eventually(() => stream.notified.has(last.body.id));
      await stream.close();
      const rest = startLoad(platform.url, token, REQUESTS_PER_SECOND);
      await pause(2_000);
      const after = await rest.stop();

      if (isLarge) {
        const statuses = Object.groupBy(failures, ({ outcome }) => outcome.slice(0, 3));
        const counts = Object.entries(statuses).map(([status, some]) => `${some!.length} x ${status}`);
        process.stdout.write(
          `${server} ${outage}: ${requests} requests, ${counts.join(', ') || 'none failed'}, longest ` +
            `${(millisecondsMax / 1_000).toFixed(1)} s; all done after ${(wellAfter / 1_000).toFixed(1)} s; ` +
            `${written.length} entries\n${shown(failures).join('\n')}\n`,
        );
      }
      // No service ends because a server does.
      expect(processIds()).toEqual(before);
      expect(results).toEqual([ROWS, ROWS, 'Completed']);
      expect((await ann.call('GET', ENTITY)).body.totalCount).toBe(written.length);
      await eventually(() => requireNotifiedOnce(bob, written));
      expect(shown(failures.filter(({ isRetryable }) => !isRetryable))).toEqual([]);
      expect(millisecondsMax).toBeLessThan(RESPONSE_MILLISECONDS_MAX);
      expect(shown(after.failures)).toEqual([]);
      campaign.pass();
    },
    180_000 + SECONDS * 10_000 + RECOVERY_MILLISECONDS_MAX,
  );
});
