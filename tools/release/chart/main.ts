import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { root } from '../../development/launcher/paths.mjs';
import { chartFiles } from './chart.ts';
import type { Manifest } from './manifest.ts';

/** `npm run chart [FOLDER]`: makes the Helm chart from `k8s/` in `dist/chart`, or in the folder. */
function main([target = 'dist/chart']: readonly string[]) {
  const folder = resolve(root, target);
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const overlays = readdirSync(join(root, 'k8s/overlays'));
  const rendered = {
    base: parse(render('k8s/base')),
    overlays: Object.fromEntries(overlays.map((name) => [name, parse(render(`k8s/overlays/${name}`))])),
    monitoring: render('k8s/components/monitoring'),
  };
  rmSync(folder, { recursive: true, force: true });
  for (const [name, text] of Object.entries(chartFiles(rendered, version, readVariables()))) {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  console.log(folder);
}

/** Where there is no kubectl, kustomize is found or built as the servers are. */
function render(path: string): string {
  const byKubectl = spawnSync('kubectl', ['kustomize', path], { cwd: root, encoding: 'utf8' });
  if (byKubectl.status === 0) return byKubectl.stdout;
  if (!byKubectl.error) throw new Error(byKubectl.stderr);
  const program = node('tools/development/launcher/servers/find-or-install.mjs', 'kustomize').trim();
  return execFileSync(program, ['build', path], { cwd: root, encoding: 'utf8' });
}

const parse = (yaml: string): Manifest[] =>
  parseAllDocuments(yaml).map((document) => document.toJS() as Manifest);

/** What every service reads. */
function readVariables(): Record<string, string[]> {
  const json = node('tools/release/configuration/configuration.ts', '--json');
  const services: [string, { name: string }[]][] = Object.entries(JSON.parse(json));
  return Object.fromEntries(
    services.map(([service, variables]) => [service, variables.map(({ name }) => name)]),
  );
}

const node = (...args: string[]): string =>
  execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

main(process.argv.slice(2));
