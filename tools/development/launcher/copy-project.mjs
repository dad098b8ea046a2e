import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, statSync, symlinkSync, utimesSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './paths.mjs';

/**
 * Copies what git knows or would take, so that tests can change sources, and the code that is generated, whose making
 * takes longer. Files and folders keep their times (`is-newer.ts` reads both): what was out of date is out of date in the
 * copy, and nothing else.
 * @param {string} folder
 */
export function copyProject(folder) {
  const generated = ['--ignored', '--', 'apps/*/src/generated/*', 'libs/*/src/generated/*'];
  const files = new Set([...filesOf('--cached', '--others'), ...filesOf('--others', ...generated)]);
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(root, file), join(folder, file), { recursive: true, force: true, preserveTimestamps: true });
  }
  for (const inside of new Set([...files].flatMap(foldersOf))) {
    const { atimeMs, mtimeMs } = statSync(join(root, inside));
    utimesSync(join(folder, inside), atimeMs / 1000, mtimeMs / 1000);
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
}

/** @param {string} path @returns {string[]} the folders above it, up to the root */
const foldersOf = (path) => (path === '.' ? [] : [dirname(path), ...foldersOf(dirname(path))]);

const filesOf = (/** @type {string[]} */ ...which) =>
  execFileSync('git', ['ls-files', '-z', '--exclude-standard', ...which], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1e8,
  })
    .split('\0')
    .filter((name) => name !== '' && existsSync(join(root, name)));

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) copyProject(process.argv[2] ?? '');
