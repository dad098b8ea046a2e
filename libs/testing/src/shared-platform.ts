import { chmod, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { oncePerRun, runDirectory } from './run-directory';
import { readProcessIds, startPlatform, stopPlatform, type RunningPlatform } from './start-platform';

/** A platform that nobody may stop before the run ends. */
export type SharedPlatform = Omit<RunningPlatform, 'stop'>;

const PLATFORMS = 'platforms';

/**
 * The whole platform of a name, started by the first spec that asks for it; the others of the same run of jest get the
 * same one. A spec that uses it stays in tenants of its own.
 * @param environment for every process of the platform; the same from every spec
 */
export async function sharedPlatform(
  name: string,
  environment: Record<string, string> = {},
): Promise<SharedPlatform> {
  const dataDirectory = join(runDirectory() ?? '', PLATFORMS, name);
  const url = await oncePerRun(`platform-${name}`, async () => {
    await mkdir(dataDirectory, { recursive: true });
    for (const directory of [join(dataDirectory, '..'), dataDirectory]) await chmod(directory, 0o755);
    return (await startPlatform({ dataDirectory, environment })).url;
  });
  return { url, dataDirectory, processIds: () => readProcessIds(dataDirectory) };
}

/** Stops the shared platforms that were started. */
export async function stopSharedPlatforms(): Promise<void> {
  const directory = join(runDirectory() ?? '', PLATFORMS);
  for (const name of await readdir(directory).catch(() => [])) await stopPlatform(join(directory, name));
}
