import { createHash } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './paths.mjs';

/**
 * Names the state of files and folders of this checkout: it is another one after any of them was written.
 * @param {string[]} paths
 */
export function fingerprintOf(paths) {
  const hash = createHash('sha256');
  for (const path of paths) add(hash, join(root, path));
  return hash.digest('hex');
}

/** @param {import('node:crypto').Hash} hash @param {string} path */
function add(hash, path) {
  if (!existsSync(path)) return;
  const status = statSync(path);
  if (status.isDirectory()) {
    const names = readdirSync(path).filter((name) => name !== 'node_modules');
    for (const name of names.sort()) add(hash, join(path, name));
  } else {
    hash.update(`${path} ${status.mtimeMs} ${status.size} ${status.ino}\n`);
  }
}
