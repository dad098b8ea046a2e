import { openAsBlob } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { signIn, type Client } from '../demo/client.ts';
import { mappedImport } from '../demo/mapped-import.ts';
import type { BenchTarget } from './platform.ts';

const POLL_MILLISECONDS_MAX = 500;
/** A look costs the platform something as well: the longer a job takes, the rarer the looks. */
const LOOKS_PER_JOB = 50;

/** Somebody of a tenant, unless given one that nobody used before. */
export const newcomer = (target: BenchTarget, tenantId: string = randomUUID()): Promise<Client> =>
  signIn(target.url, { sub: 'bench', name: 'Bench', tenantId });

/** Uploads a file and confirms the suggested mappings; answers the id of a job that can be executed. */
export const mapFile = async (client: Client, path: string): Promise<string> =>
  mappedImport(client, 'Localization.Overrides', await openAsBlob(path));

/** Executes a mapped job and answers its report. */
export async function execute(client: Client, jobId: string) {
  await client.call('POST', `/imports/${jobId}/execute`);
  await untilEnded(client, `/imports/${jobId}`, ['Completed', 'PartiallyCompleted']);
  return (await client.call('GET', `/imports/${jobId}/report`)).body;
}

/** Imports a file of good rows from the upload to the last commit; answers how long that took. */
export async function importFile(client: Client, path: string, rowCount: number): Promise<number> {
  const began = performance.now();
  const { insertedRows } = await execute(client, await mapFile(client, path));
  const elapsed = performance.now() - began;
  if (insertedRows !== rowCount) throw new Error(`${insertedRows} of ${rowCount} rows were inserted.`);
  return elapsed;
}

/** Exports all rows of a tenant; answers how long that took. */
export async function exportRows(client: Client, format: string, rowCount: number): Promise<number> {
  const began = performance.now();
  const { body: job } = await client.call('POST', '/exports/jobs', {
    body: { definitionName: 'Localization.Overrides', format },
  });
  const ended = await untilEnded(client, `/exports/jobs/${job.id}`, ['Completed']);
  if (ended.rowCount !== rowCount) throw new Error(`${ended.rowCount} of ${rowCount} rows were exported.`);
  return performance.now() - began;
}

/** Waits for a job to end; the answer comes late by a fiftieth of the time at most. */
export async function untilEnded(client: Client, path: string, good: readonly string[]) {
  const began = performance.now();
  for (;;) {
    const { body } = await client.call('GET', path);
    if (good.includes(body.status)) return body;
    if (body.completedAt !== null) throw new Error(`${path} ended ${body.status}.`);
    await pause(Math.min(POLL_MILLISECONDS_MAX, (performance.now() - began) / LOOKS_PER_JOB));
  }
}
