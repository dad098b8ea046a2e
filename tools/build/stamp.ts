import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { root } from '../launcher/paths.mjs';

const stampName = '.made-from';

/** A fingerprint of files (folders with everything in them) and of the packages that turn them into something. */
export function fingerprint(paths: readonly string[], packages: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of paths.flatMap(filesUnder))
    hash.update(`${file}\0`).update(readFileSync(file)).update('\0');
  for (const name of packages) hash.update(`${name}@${installedVersion(name)}\0`);
  return hash.digest('hex');
}

/** Whether the folder was made from exactly this. */
export function isMadeFrom(folder: string, print: string): boolean {
  const stamp = join(folder, stampName);
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === print;
}

export function stampFolder(folder: string, print: string): void {
  writeFileSync(join(folder, stampName), print);
}

function filesUnder(path: string): string[] {
  if (!existsSync(path)) return [];
  if (statSync(path).isFile()) return [path];
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesUnder(join(path, name)));
}

function installedVersion(name: string): string {
  const manifest = join(root, 'node_modules', name, 'package.json');
  return createRequire(import.meta.url)(manifest).version;
}
