import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './paths.mjs';

/**
 * Copies what git knows or would take, and nothing that was built, so that tests can change sources.
 * @param {string} folder
 */
export function copyProject(folder) {
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const files = execFileSync('git', list, { cwd: root, encoding: 'utf8', maxBuffer: 1e8 }).split('\0');
  for (const file of files.filter((name) => name !== '' && existsSync(join(root, name)))) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(root, file), join(folder, file), { recursive: true, force: true });
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) copyProject(process.argv[2] ?? '');
