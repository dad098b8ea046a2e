import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { withLock } from '../../development/launcher/lock.mjs';
import { root } from '../../development/launcher/paths.mjs';

const own = join(import.meta.dirname, 'starlight');
/** The packages of the site are installed here, away from the sources and from everybody else's `npm ci`. */
export const project = join(root, 'dist', 'starlight');

/**
 * Installs the packages of the documentation site, unless they are there, or waits for another process that does. Needs npm
 * only, and no package of ours.
 */
export const installPackages = () => withLock(`${project}.lock`, async () => installMissing());

function installMissing() {
  const lock = readFileSync(join(own, 'package-lock.json'), 'utf8');
  const installed = join(project, 'package-lock.json');
  if (
    existsSync(join(project, 'node_modules/.package-lock.json')) &&
    readFileSync(installed, 'utf8') === lock
  )
    return;
  rmSync(project, { recursive: true, force: true });
  for (const name of ['package.json', 'package-lock.json']) cpSync(join(own, name), join(project, name));
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  execFileSync('npm', ['ci', ...options], { cwd: project, stdio: ['ignore', 2, 2] });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await installPackages();
