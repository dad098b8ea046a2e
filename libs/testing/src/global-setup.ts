import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTestServers } from './infrastructure';
import { createRunDirectory } from './run-directory';

const root = join(__dirname, '../../..');

/** Ensures before all tests that the servers are running and every service has a migrated database to clone. */
// eslint-disable-next-line no-restricted-syntax -- jest requires a default export
export default async function globalSetup(): Promise<void> {
  runNode('tools/development/launcher/test-servers.mjs', ['start', String(process.pid)], 'inherit');
  const servers = JSON.parse(readFileSync(join(root, '.plinth/test/servers.json'), 'utf8'));
  const templates = runNode('tools/operations/migrate/test-templates.ts', [], 'pipe', {
    MIGRATE_DATABASE_URL: servers.postgresUrl,
  });
  setTestServers({ ...servers, templates: JSON.parse(templates) });
  await createRunDirectory();
}

function runNode(
  script: string,
  args: string[],
  stdout: 'inherit' | 'pipe',
  env: NodeJS.ProcessEnv = {},
): string {
  const node = join(root, 'node_modules/.bin/node');
  return execFileSync(node, [script, ...args], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', stdout, 'inherit'],
    env: { ...process.env, ...env },
  });
}
