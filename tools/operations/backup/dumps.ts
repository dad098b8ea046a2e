import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join, parse } from 'node:path';

/** The directory of the dumps of one backup has the name of its time, and a further ending until it has all of them. */
const COMPLETE = /^databases-[\dT.-]+Z$/;
const DUMPS = /^databases-[\dT.-]+Z(\.partial)?$/;

export const dumpOf = (directory: string, service: string): string => join(directory, `${service}.dump`);

/**
 * Puts dumps in the place of those that a folder has, once all are made: these stay where that fails, and there is never a
 * directory with some of both.
 * @param make is given the directory to put them in
 */
export async function replaceDumps(
  folder: string,
  make: (directory: string) => Promise<void>,
): Promise<void> {
  const name = `databases-${new Date().toISOString().replaceAll(':', '-')}`;
  const partial = join(folder, `${name}.partial`);
  mkdirSync(partial, { recursive: true });
  try {
    await make(partial);
    renameSync(partial, join(folder, name));
  } catch (error) {
    // The disk may be full.
    rmSync(partial, { recursive: true, force: true });
    throw error;
  }
  for (const other of readdirSync(folder))
    if (DUMPS.test(other) && other !== name) rmSync(join(folder, other), { recursive: true });
}

/** The latest complete dumps in a folder, and which services they are of. */
export function lastDumps(folder: string): { directory: string; services: string[] } | undefined {
  const name = readdirSync(folder)
    .filter((one) => COMPLETE.test(one))
    .sort()
    .at(-1);
  if (name === undefined) return undefined;
  const directory = join(folder, name);
  return { directory, services: readdirSync(directory).map((file) => parse(file).name) };
}
