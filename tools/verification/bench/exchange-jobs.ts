import { openAsBlob } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { signIn, type Client } from '../../development/demo/client.ts';
import { mappedImport } from '../../development/demo/mapped-import.ts';
import type { BenchTarget } from './platform.ts';

/** Polling costs the platform time as well, so jobs are polled seldom, and say themselves when they ended. */
const POLL_MILLISECONDS = 200;

/** Signs in to a tenant; a new one unless one is given. */
export const signInToTenant = (
  target: Pick<BenchTarget, 'url'>,
  tenantId: string = randomUUID(),
): Promise<Client> => signIn(target.url, { sub: 'bench', name: 'Bench', tenantId });

/** Uploads a file and confirms the suggested mappings; returns the id of a job that can be executed. */
export const mapFile = async (
  client: Client,
  path: string,
  definition = 'Localization.Overrides',
): Promise<string> => mappedImport(client, definition, await openAsBlob(path));

/** Executes a mapped job and returns its report. */
export async function execute(client: Client, jobId: string) {
  await timeExecution(client, jobId);
  return reportOf(client, jobId);
}

/** The report of an import that ended. */
export const reportOf = async (client: Client, jobId: string) =>
  (await client.call('GET', `/imports/${jobId}/report`)).body;

/** Executes a mapped job; returns how long that took, from the request to the end that the job names. */
export async function timeExecution(client: Client, jobId: string): Promise<number> {
  const startedAt = Date.now();
  await client.call('POST', `/imports/${jobId}/execute`);
  const ended = await waitForStatus(client, `/imports/${jobId}`, ['Completed', 'PartiallyCompleted']);
  return Date.parse(ended.completedAt) - startedAt;
}

/** Imports a file without errors, from the upload to the last commit; returns how long that took. */
export async function importFile(client: Client, path: string, rowCount: number): Promise<number> {
  const uploadedAt = Date.now();
  const jobId = await mapFile(client, path);
  const mappedIn = Date.now() - uploadedAt;
  const elapsed = mappedIn + (await timeExecution(client, jobId));
  const { insertedRows } = await reportOf(client, jobId);
  if (insertedRows !== rowCount) throw new Error(`${insertedRows} of ${rowCount} rows were inserted.`);
  return elapsed;
}

/** Exports all rows of a tenant; returns how long that took. */
export async function exportRows(client: Client, format: string, rowCount: number): Promise<number> {
  const startedAt = Date.now();
  const { body: job } = await client.call('POST', '/exports/jobs', {
    body: { definitionName: 'Localization.Overrides', format },
  });
  const ended = await waitForStatus(client, `/exports/jobs/${job.id}`, ['Completed']);
  if (ended.rowCount !== rowCount) throw new Error(`${ended.rowCount} of ${rowCount} rows were exported.`);
  return Date.parse(ended.completedAt) - startedAt;
}

/** Waits for a job to end. */
export async function waitForStatus(client: Client, path: string, statuses: readonly string[]) {
  for (;;) {
    const { body } = await client.call('GET', path);
    if (statuses.includes(body.status)) return body;
    if (body.completedAt !== null) throw new Error(`${path} ended ${body.status}.`);
    await pause(POLL_MILLISECONDS);
  }
}
