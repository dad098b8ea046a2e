import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { findOrInstall } from '@plinth/testing/find-or-install';

const root = join(__dirname, '../../..');

/**
 * Reads compose files of the project, each on top of the one before it, by the Docker client where it is installed, else
 * by the library that reads compose files; undefined where neither is.
 */
export function readByCompose(...names: string[]) {
  const files = names.map((name) => join(root, name));
  const options = files.flatMap((file) => ['--file', file]);
  const client = spawnSync('docker', ['compose', ...options, 'config', '--quiet'], { encoding: 'utf8' });
  if (!/unknown (command|flag)|not a docker command/.test(client.stderr ?? '') && !client.error)
    return client;
  const reader = findOrInstall('compose');
  return reader === undefined ? undefined : spawnSync(reader, files, { encoding: 'utf8' });
}
