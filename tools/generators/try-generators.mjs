import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from '../launcher/paths.mjs';

/**
 * `npm run test:generators`: makes a service and an endpoint in a copy of the project, runs their tests and all
 * checks that look at services, starts the platform with it, and tells how long it took from nothing to an answer.
 */
const copy = mkdtempSync(join(tmpdir(), 'plinth-generators-'));
const programs = join(root, 'node_modules', '.bin');
const port = String(20_000 + Math.floor(Math.random() * 10_000));
const env = {
  ...process.env,
  PATH: `${programs}:${process.env.PATH}`,
  NX_DAEMON: 'false',
  NX_CACHE_DIRECTORY: join(copy, '.nx', 'cache'),
  NX_WORKSPACE_DATA_DIRECTORY: join(copy, '.nx', 'data'),
};
const run = (/** @type {string} */ program, /** @type {string[]} */ ...args) => {
  console.log(`> ${program} ${args.join(' ')}`);
  execFileSync(program, args, { cwd: copy, env, stdio: 'inherit' });
};

/** What git knows or would take, and nothing that was built. */
function copyProject() {
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const files = execFileSync('git', list, { cwd: root, encoding: 'utf8', maxBuffer: 1e8 }).split('\0');
  for (const file of files.filter((name) => name !== '')) {
    mkdirSync(dirname(join(copy, file)), { recursive: true });
    cpSync(join(root, file), join(copy, file), { recursive: true, force: true });
  }
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  run('git', 'init', '--quiet');
}

/** @param {number} since */
async function askThroughGateway(since) {
  const url = `http://localhost:${port}`;
  /** @type {(path: string, init: RequestInit) => Promise<any>} */
  const ask = async (path, init) => {
    const response = await fetch(url + path, init);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  const json = { 'content-type': 'application/json' };
  const who = { sub: 'ada', name: 'Ada', roles: ['admin'] };
  const { accessToken } = await ask('/dev/token', {
    method: 'POST',
    headers: json,
    body: JSON.stringify(who),
  });
  const headers = { ...json, authorization: `Bearer ${accessToken}` };
  const made = await ask('/api/v1/spare-parts', { method: 'POST', headers, body: '{"name":"wheel"}' });
  const prices = await ask('/api/v1/spare-parts/prices', { headers });
  const seconds = ((Date.now() - since) / 1000).toFixed(1);
  console.log(
    `From nothing to an answer through the gateway: ${seconds} s (${made.name}, ${prices.answer}).`,
  );
}

try {
  copyProject();
  const since = Date.now();
  run('nx', 'generate', '@plinth/generators:service', 'spare-parts', '--no-interactive');
  run('nx', 'generate', '@plinth/generators:endpoint', 'spare-parts', 'getPrices', '--no-interactive');
  run('node', 'tools/build/generate.ts');
  run('node', 'tools/launcher/start.mjs', '--detach', '--port', port);
  await askThroughGateway(since);
  run('node', 'tools/openapi/main.ts');
  run('node', 'tools/configuration/configuration.ts');
  run(
    'jest',
    'apps/spare-parts',
    'libs/contracts',
    'libs/testing/test',
    'tools/manifests',
    'tools/images/compose',
  );
  run('tsc', '--noEmit', '-p', 'tsconfig.json');
  run('prettier', '--check', 'apps/spare-parts', 'libs/contracts', 'k8s', 'docs');
  run('eslint', 'apps/spare-parts', 'libs/contracts/src/spare-parts');
} finally {
  for (const command of [['stop.mjs'], ['test-servers.mjs', 'stop']]) {
    spawnSync('node', [join('tools/launcher', command[0] ?? ''), ...command.slice(1)], { cwd: copy, env });
  }
  rmSync(copy, { recursive: true, force: true });
}
