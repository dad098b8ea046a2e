import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { root } from '../../development/launcher/paths.mjs';

/** What `package.json` of a published project says; `nx release` writes the version. */
export interface Manifest {
  name: string;
  version: string;
  [member: string]: unknown;
}

/** How large a package may be; a step over it has to be wanted. */
export interface Budget {
  packedBytesMax: number;
  unpackedBytesMax: number;
}

const readJson = (path: string) => JSON.parse(readFileSync(join(root, path), 'utf8'));

/** The manifest of a project. @param project folder, from the root */
export const manifestOf = (project: string): Manifest => readJson(`${project}/package.json`);

/** Ranges of packages as the whole project has them. */
export function rangesOf(names: readonly string[]): Record<string, string> {
  const { dependencies } = readJson('package.json');
  return Object.fromEntries(names.map((name) => [name, dependencies[name]]));
}

/** Adds to a folder with the built files what npm wants beside them: manifest, README, change log, licence. */
export function completePackage(folder: string, project: string, manifest: Manifest): void {
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  copyFileSync(join(root, project, 'README.md'), join(folder, 'README.md'));
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  // Both packages have one change log; there is none before the first release.
  const changes = join(root, 'libs/sdk/CHANGELOG.md');
  if (existsSync(changes)) copyFileSync(changes, join(folder, 'CHANGELOG.md'));
}

/**
 * Packs a folder to `dist/<name>-<version>.tgz` and prints where that is and its size.
 * @throws Error for a package over its budget
 */
export function pack(folder: string, { packedBytesMax, unpackedBytesMax }: Budget): void {
  const args = [
    'pack',
    '--json',
    '--loglevel=error',
    `./${relative(root, folder)}`,
    '--pack-destination=dist',
  ];
  const output = execFileSync('npm', args, { cwd: root, encoding: 'utf8' });
  const [{ filename, size, unpackedSize }] = JSON.parse(output) as [
    { filename: string; size: number; unpackedSize: number },
  ];
  console.log(
    `dist/${filename}: ${kilobytes(size)} of ${kilobytes(packedBytesMax)} packed, ` +
      `${kilobytes(unpackedSize)} of ${kilobytes(unpackedBytesMax)} unpacked`,
  );
  if (size > packedBytesMax || unpackedSize > unpackedBytesMax)
    throw new Error(`${filename} is over its budget; what was added, and is it wanted?`);
}

const kilobytes = (bytes: number): string => `${Math.ceil(bytes / 1_000)} kB`;

/** Runs a program of this folder, and says in one line what stopped it. */
export function runProgram(main: () => Promise<void>): void {
  main().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  });
}
