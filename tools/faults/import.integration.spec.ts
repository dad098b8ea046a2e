import { randomUUID } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { seededRandom } from '@plinth/testing/seeded-random';
import { startPlatform, type RunningPlatform } from '@plinth/testing/start-platform';
import { Client as Database } from 'pg';
import { signIn, type Client } from '../demo/client';

/** `npm run faults -- import` runs it with 200 imports of 10,000 rows. */
const { FAULTS_IMPORTS } = process.env;
const IMPORTS = Number(FAULTS_IMPORTS ?? 2);
const ROWS = Number(process.env['FAULTS_ROWS'] ?? 3_000);
const SEED = Number(process.env['FAULTS_SEED'] ?? 1);
const KILLS = 3;
const VICTIMS = ['data-exchange-worker', 'data-exchange', 'localization', 'postgres', 'nats', 'temporal'];
/** Nothing may be stuck longer than this. */
const END_MILLISECONDS_MAX = 120_000;
const BROKEN_EVERY = 97;

const random = seededRandom(SEED);

let platform: RunningPlatform;
let folder: string;
let hasPassed = false;
const kills: Record<string, number> = {};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'plinth-faults-'));
  // The database server of a root user runs as somebody else, who has to get in.
  chmodSync(folder, 0o755);
  platform = await startPlatform({ dataDirectory: folder });
}, 300_000);

afterAll(async () => {
  await platform.stop();
  if (hasPassed || FAULTS_IMPORTS === undefined) rmSync(folder, { recursive: true, force: true });
  else console.log(`What the processes logged is in ${join(folder, 'logs')}.`);
}, 120_000);

/** Some rows without a value that they need, some with a key that was there before, some with quotes and newlines. */
function someFile(): string {
  const lines = Array.from({ length: ROWS }, (_, index) => {
    const key = index % BROKEN_EVERY === 5 ? `key.${index - 1}` : `key.${index}`;
    const culture = index % BROKEN_EVERY === 3 ? 'no culture' : 'en';
    return `Faults,${culture},${key},"Value ""${index}""\nof ${Math.floor(random() * 1e6)}"`;
  });
  return ['resource,culture,key,value', ...lines, ''].join('\r\n');
}

async function mapped(client: Client, content: string): Promise<string> {
  const form = (): FormData => {
    const form = new FormData();
    form.append('file', new Blob([content], { type: 'text/csv' }), 'faults.csv');
    form.append('definitionName', 'Localization.Overrides');
    return form;
  };
  const { body: job } = await client.call('POST', '/imports', { form, expect: [201] });
  const { body: preview } = await client.call('POST', `/imports/${job.id}/preview`);
  await client.call('PUT', `/imports/${job.id}/mappings`, {
    body: { mappings: preview.suggestions },
    expect: [204],
  });
  return job.id;
}

async function ended(client: Client, jobId: string): Promise<void> {
  for (;;) {
    const { body } = await client.call('GET', `/imports/${jobId}`);
    if (body.completedAt !== null) return;
    await pause(50);
  }
}

/** Everything that an import leaves behind, without what differs from one to the next. */
async function leftBy(client: Client, tenantId: string, jobId: string) {
  const {
    importJobId: _id,
    duration: _duration,
    ...report
  } = (await client.call('GET', `/imports/${jobId}/report`)).body;
  const correctionFile = (await client.call('GET', `/imports/${jobId}/correction-file`)).text;
  return { report, correctionFile, table: await tableOf(tenantId) };
}

async function tableOf(tenantId: string): Promise<unknown[]> {
  const read = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'));
  const database = new Database({
    host: '127.0.0.1',
    port: read('ports.json').postgres,
    user: 'postgres',
    password: read('secrets.json').postgresPassword,
    database: 'plinth_localization',
  });
  await database.connect();
  try {
    const { rows } = await database.query(
      `SELECT resource_name, culture_name, key, value, version, import_row FROM override
       WHERE tenant_id = $1 ORDER BY key`,
      [tenantId],
    );
    return rows;
  } finally {
    await database.end();
  }
}

/** Kills processes at random moments of a time, in the middle of whatever they do; their supervisor starts them anew. */
async function killSome(milliseconds: number): Promise<string[]> {
  const moments = Array.from({ length: KILLS }, () => random() * milliseconds).sort(
    (one, other) => one - other,
  );
  const began = Date.now();
  const killed: string[] = [];
  for (const moment of moments) {
    await pause(Math.max(0, moment - (Date.now() - began)));
    const name = VICTIMS[Math.floor(random() * VICTIMS.length)]!;
    killUnlessDead(platform.processIds()[name]);
    killed.push(name);
    kills[name] = (kills[name] ?? 0) + 1;
  }
  return killed;
}

/** Whoever was killed before may not be started anew yet. */
function killUnlessDead(processId: number | undefined): void {
  if (processId === undefined) return;
  try {
    process.kill(processId, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** One import of a tenant of its own. */
async function runImport(content: string, disturb: () => Promise<string[]>) {
  const tenantId = randomUUID();
  const client = await signIn(platform.url, { sub: 'faults', name: 'Faults', tenantId });
  const jobId = await mapped(client, content);
  await client.call('POST', `/imports/${jobId}/execute`, { expect: [202] });
  const began = Date.now();
  const [killed] = await Promise.all([disturb(), ended(client, jobId)]);
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
          killSome(undisturbed.milliseconds),
        );
        times.push(milliseconds);
        expect({ index, killed, ...left }).toEqual({ index, killed, ...undisturbed.left });
        expect(milliseconds).toBeLessThan(END_MILLISECONDS_MAX);
      }
      hasPassed = true;
      if (FAULTS_IMPORTS !== undefined) tellFigures(undisturbed.milliseconds, times);
    },
    60_000 + IMPORTS * (END_MILLISECONDS_MAX + 60_000),
  );
});

function tellFigures(undisturbed: number, times: number[]): void {
  const sorted = times.toSorted((one, other) => one - other);
  const seconds = (milliseconds: number): string => `${(milliseconds / 1_000).toFixed(1)} s`;
  const victims = Object.entries(kills).map(([name, count]) => `${name} ${count}`);
  console.log(
    `${times.length} imports of ${ROWS} rows, seed ${SEED}: all as undisturbed. ` +
      `Undisturbed ${seconds(undisturbed)}; disturbed median ${seconds(sorted[Math.floor(sorted.length / 2)]!)}, ` +
      `longest ${seconds(sorted.at(-1)!)}. Killed: ${victims.join(', ')}.`,
  );
}
