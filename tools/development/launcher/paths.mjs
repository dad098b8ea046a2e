import { existsSync, mkdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of this checkout. */
export const root = resolve(fileURLToPath(new URL('../../..', import.meta.url)));

/** Built and downloaded programs; shared by every checkout of this user. */
export function cacheDirectory() {
  const home = process.env.HOME || userInfo().homedir;
  return join(process.env.XDG_CACHE_HOME || join(home, '.cache'), 'plinth');
}

/**
 * Where one running platform keeps everything it writes.
 * @param {string} [directory] an absolute path, or one relative to the checkout
 */
export function layoutOf(directory = process.env.PLINTH_DATA || '.plinth') {
  const data = resolve(root, directory);
  return {
    data,
    logs: join(data, 'logs'),
    blobs: join(data, 'blobs'),
    secrets: join(data, 'secrets.json'),
    ports: join(data, 'ports.json'),
    state: join(data, 'processes.json'),
    lock: join(data, 'launcher.lock'),
    /** @param {string} server */
    server: (server) => join(data, server),
    /** @param {string} process */
    log: (process) => join(data, 'logs', `${process}.log`),
  };
}

/** @typedef {ReturnType<typeof layoutOf>} Layout */

/** @param {Layout} layout */
export function createFolders(layout) {
  mkdirSync(layout.logs, { recursive: true });
  mkdirSync(layout.blobs, { recursive: true });
}

/** The Node.js the project runs on: the one npm installed, not the one that runs this launcher. */
export function projectNode() {
  const installed = join(root, 'node_modules', '.bin', process.platform === 'win32' ? 'node.cmd' : 'node');
  return existsSync(installed) ? installed : process.execPath;
}
