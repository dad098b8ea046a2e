import { chmod, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually';

/** Names the directory of a run of jest; set before the first of its specs. */
const VARIABLE = 'PLINTH_TEST_RUN';
const PROCESS = 'PLINTH_TEST_RUN_PROCESS';
const MAKE_MILLISECONDS_MAX = 300_000;

/** Makes the directory of what the specs of this run share. Called once, before the test processes start. */
export async function createRunDirectory(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'plinth-run-'));
  // For root the database server runs as another user, who needs access.
  await chmod(directory, 0o755);
  process.env[VARIABLE] = directory;
  process.env[PROCESS] = String(process.pid);
}

/** The pid of the process that runs the specs, in processes that it may replace: what is not to outlive the run ends with it. */
export const runProcess = (): number => Number(process.env[PROCESS] ?? process.pid);

/** The directory of what the specs of this run share; undefined where the run has no global setup. */
export const runDirectory = (): string | undefined => process.env[VARIABLE];

/** Removes what the specs of this run shared. */
export async function removeRunDirectory(): Promise<void> {
  const directory = runDirectory();
  if (directory !== undefined) await rm(directory, { recursive: true, force: true });
}

/**
 * A text that is made by the first spec of a run that asks for it, because that takes long; all others get the same.
 * @param name without characters that a file name cannot have
 * @throws Error in all specs when it could not be made
 */
export async function oncePerRun(name: string, make: () => Promise<string>): Promise<string> {
  const directory = runDirectory();
  if (directory === undefined) throw new Error('Without global setup nothing is shared.');
  const file = join(directory, `${name}.json`);
  if (await isFirst(join(directory, `${name}.started`))) {
    const result = await make().then(
      (value) => ({ value }),
      (error: unknown) => ({ error: String(error) }),
    );
    // Renamed when it is whole, since other workers read it.
    await writeFile(`${file}.partial`, JSON.stringify(result));
    await rename(`${file}.partial`, file);
  }
  const read = async () => JSON.parse(await readFile(file, 'utf8'));
  const { value, error } = await eventually<{ value?: string; error?: string }>(read, MAKE_MILLISECONDS_MAX);
  if (value === undefined) throw new Error(`${name} could not be made: ${error}`);
  return value;
}

/** A directory is made by one process only. */
const isFirst = (marker: string): Promise<boolean> =>
  mkdir(marker).then(
    () => true,
    () => false,
  );
