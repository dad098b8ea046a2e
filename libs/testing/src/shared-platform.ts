import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually';
import { startPlatform, stopPlatform } from './start-platform';

/** Names the directory of the platform that the specs of this run of jest share; set before the first of them. */
const VARIABLE = 'PLINTH_SHARED_PLATFORM';
const START_MILLISECONDS_MAX = 300_000;

/** Prepares a shared platform. It is not started before a spec needs it. */
export async function prepareSharedPlatform(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'plinth-shared-'));
  // For root the database server runs as another user, who needs access.
  await chmod(directory, 0o755);
  process.env[VARIABLE] = directory;
}

/**
 * The whole platform, started by the first spec that asks for it; the others of the same run of jest get the same one.
 * A spec that uses it stays in tenants of its own and kills nothing.
 * @param environment for every process of the platform; the same from every spec
 */
export async function sharedPlatform(environment: Record<string, string>): Promise<{ url: string }> {
  const directory = process.env[VARIABLE];
  if (directory === undefined) throw new Error('The shared platform was not prepared.');
  const addressFile = join(directory, 'address.json');
  if (await isFirst(join(directory, 'starting'))) {
    const { url } = await startPlatform({ dataDirectory: directory, environment });
    // Renamed when it is whole, since other workers read it.
    await writeFile(`${addressFile}.partial`, JSON.stringify({ url }));
    await rename(`${addressFile}.partial`, addressFile);
  }
  return eventually(async () => JSON.parse(await readFile(addressFile, 'utf8')), START_MILLISECONDS_MAX);
}

/** A directory is made by one process only. */
const isFirst = (marker: string): Promise<boolean> =>
  mkdir(marker).then(
    () => true,
    () => false,
  );

/** Stops the shared platform, where it was started, and removes everything it wrote. */
export async function removeSharedPlatform(): Promise<void> {
  const directory = process.env[VARIABLE];
  if (directory === undefined) return;
  await stopPlatform(directory);
  await rm(directory, { recursive: true, force: true });
}
