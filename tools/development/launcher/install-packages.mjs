import { join } from 'node:path';
import { readJson } from './json-file.mjs';
import { root } from './paths.mjs';
import { run } from './run.mjs';

/** @typedef {{ packages: Record<string, { version?: string, optional?: boolean }> }} Lockfile */

/**
 * `npm ci`, when what is installed is not what the lockfile lists.
 * @param {import('./progress.mjs').Progress} progress
 */
export async function installPackages(progress) {
  if (areInstalled()) return;
  await progress.task('packages', async (task) => {
    task.doing('installing with npm ci (one to three minutes)');
    const { npm_node_execpath: node, npm_execpath: cli } = process.env;
    const [command, ...before] = node !== undefined && cli !== undefined ? [node, cli] : ['npm'];
    await run(
      /** @type {string} */ (command),
      [...before, 'ci', '--no-audit', '--no-fund', '--loglevel=warn'],
      {
        name: 'npm ci',
        cwd: root,
      },
    );
    task.result('installed');
  });
}

/** npm writes a lockfile of its own into node_modules, once they are complete. */
function areInstalled() {
  const wanted = readLockfile(join(root, 'package-lock.json'));
  const installed = readLockfile(join(root, 'node_modules', '.package-lock.json'));
  return Object.entries(wanted.packages).every(
    ([path, { version, optional }]) =>
      path === '' || optional === true || installed.packages[path]?.version === version,
  );
}

/** @param {string} file @returns {Lockfile} */
function readLockfile(file) {
  return readJson(file, { packages: {} });
}
