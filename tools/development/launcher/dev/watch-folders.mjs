import { existsSync, readdirSync, statSync, watch } from 'node:fs';
import { join } from 'node:path';

const ignored = new Set(['generated', 'node_modules']);

/**
 * Watches folders with everything in them. Each folder has a watcher of its own: the recursive watcher of Node.js
 * loses files that an editor replaces.
 * @param {string[]} folders
 * @param {(path: string) => void} onChange
 */
export function watchFolders(folders, onChange) {
  /** @type {Map<string, import('node:fs').FSWatcher>} */
  const watchers = new Map();
  folders.filter(isFolder).forEach(add);

  /** @param {string} folder */
  function add(folder) {
    const watcher = watch(folder, (_event, name) => {
      if (name === null || ignored.has(name)) return;
      const path = join(folder, name);
      if (!existsSync(path)) remove(path);
      else if (isFolder(path) && !watchers.has(path)) add(path);
      onChange(path);
    });
    watcher.on('error', () => remove(folder));
    watchers.set(folder, watcher);
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (entry.isDirectory() && !ignored.has(entry.name)) add(join(folder, entry.name));
    }
  }

  /** @param {string} folder */
  function remove(folder) {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  }
}

/** @param {string} path */
const isFolder = (path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
