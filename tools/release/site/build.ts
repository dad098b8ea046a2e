import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { root } from '../../development/launcher/paths.mjs';
import { brokenLinks } from './broken-links.ts';
import { installPackages, project } from './install-packages.mjs';
import { siteOf } from './pages.ts';

const own = import.meta.dirname;
const site = join(root, 'dist', 'site');

/**
 * `npm run docs:site`: makes the documentation site in `dist/site` from the pages of the repository, with a search, and
 * fails on a link that leads nowhere. `--base /plinth` when it is served below a path, `--sources ADDRESS` when the files
 * of the repository can be read somewhere.
 */
async function main() {
  const { values } = parseArgs({
    options: { base: { type: 'string', default: '/' }, sources: { type: 'string' } },
  });
  await installPackages();
  for (const name of ['astro.config.mjs', 'tsconfig.json', 'src'])
    cpSync(join(own, 'starlight', name), join(project, name), { recursive: true });
  copy(join(root, 'apps/console/src/icon.svg'), join(project, 'public/icon.svg'));
  writePages(values.base, values.sources);
  rmSync(site, { recursive: true, force: true });
  execFileSync(process.execPath, ['node_modules/astro/bin/astro.mjs', 'build', '--silent'], {
    cwd: project,
    env: { ...process.env, ASTRO_TELEMETRY_DISABLED: '1' },
    stdio: ['ignore', 2, 2],
  });
  const broken = brokenLinks(site, values.base);
  if (broken.length > 0) throw new Error(`Links that lead nowhere:\n${broken.join('\n')}`);
  console.log(site);
}

function writePages(base: string, sources: string | undefined): void {
  const generated = join(project, 'generated');
  rmSync(generated, { recursive: true, force: true });
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
    cwd: root,
    encoding: 'utf8',
  });
  const paths = listed.split('\n').filter((path) => path !== '' && existsSync(join(root, path)));
  const pages = paths.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }));
  const made = siteOf(pages, base, sources);
  for (const [file, text] of Object.entries(made.pages)) write(join(generated, 'pages', file), text);
  for (const [file, path] of Object.entries(made.images)) copy(join(root, path), join(generated, file));
  write(join(generated, 'site.json'), JSON.stringify({ base, sidebar: made.sidebar }));
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
}

await main();
