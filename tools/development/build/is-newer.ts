import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../launcher/paths.mjs';

/** npm writes it with every change of what is installed. */
const installed = join(root, 'node_modules', '.package-lock.json');

/**
 * Whether a file is there and newer than its sources (folders with everything in them) and the installed packages. A
 * start asks this instead of Nx, which takes longer to find its projects than a start takes to build.
 */
export function isNewer(file: string, sources: readonly string[]): boolean {
  const made = timeOf(file);
  return [installed, ...sources.flatMap(pathsUnder)].every((source) => timeOf(source) < made);
}

const timeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** A folder is younger than its last new or deleted file. */
function pathsUnder(path: string): string[] {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return [path];
  return [path, ...readdirSync(path).flatMap((name) => pathsUnder(join(path, name)))];
}
