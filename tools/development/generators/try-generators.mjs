import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyProject } from '../launcher/copy-project.mjs';
import { root } from '../launcher/paths.mjs';

/**
 * `npm run test:generators`: runs the commands of docs/adding-a-service.md and docs/adding-an-endpoint.md in a copy of
 * the project, then all checks that look at services, and prints how long it took from nothing to a response.
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
const run = (/** @type {string} */ command) => {
  console.log(`> ${command}`);
  execFileSync('sh', ['-c', command], { cwd: copy, env, stdio: 'inherit' });
};

/**
 * Runs the commands of one block of a page; the platform is started in the background, on a port of its own.
 * @param {string} page
 * @param {number} block
 */
function runBlock(page, block) {
  const text = readFileSync(join(root, 'docs', page), 'utf8');
  const [, commands = ''] = [...text.matchAll(/^```sh\n([^]*?)^```$/gm)][block] ?? [];
  for (const command of commands.trim().split('\n'))
    run(command === 'npm start' ? `npm start -- --detach --port ${port}` : command);
}

async function callThroughGateway() {
  /** @type {(path: string, body: object, headers?: Record<string, string>) => Promise<any>} */
  const post = async (path, body, headers = {}) => {
    const response = await fetch(`http://localhost:${port}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  const { accessToken } = await post('/dev/token', { sub: 'ada', name: 'Ada', roles: ['admin'] });
  const authorization = `Bearer ${accessToken}`;
  return post('/api/v1/spare-parts', { name: 'wheel' }, { authorization });
}

try {
  copyProject(copy);
  run('git init --quiet');
  const since = Date.now();
  runBlock('adding-a-service.md', 0);
  const { name } = await callThroughGateway();
  const seconds = ((Date.now() - since) / 1000).toFixed(1);
  console.log(`From nothing to a response through the gateway: ${seconds} s (${name}).`);
  runBlock('adding-a-service.md', 1);
  runBlock('adding-an-endpoint.md', 0);
  run(
    'jest libs/contracts libs/testing/test tools/verification/manifests tools/verification/architecture/service-shape tools/release/images/compose',
  );
  run('tsc --build apps/spare-parts tools/development');
  run('prettier --check apps/spare-parts libs/contracts k8s docs');
  run('eslint apps/spare-parts libs/contracts/src/spare-parts');
} finally {
  for (const command of ['stop.mjs', 'test-servers.mjs stop'])
    spawnSync('sh', ['-c', `node tools/development/launcher/${command}`], { cwd: copy, env });
  rmSync(copy, { recursive: true, force: true });
}
