import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Servers often live where an ordinary user's PATH does not look. */
const usualFolders = [
  '/usr/local/bin',
  '/usr/bin',
  '/bin',
  '/usr/local/sbin',
  '/usr/sbin',
  '/sbin',
  '/opt/homebrew/bin',
];

/**
 * @param {string} name
 * @param {string[]} [moreFolders]
 * @returns {string | undefined}
 */
export function findProgram(name, moreFolders = []) {
  const onPath = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return [...onPath, ...usualFolders, ...moreFolders].map((folder) => join(folder, name)).find(isProgram);
}

/** @param {string} file */
function isProgram(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
