import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(__dirname, '../../..');

/**
 * The path of a program that only some tests need, found or installed in the same way as the launcher's servers; the
 * first time on a machine this may take minutes. Prints why and returns undefined when it cannot be installed.
 */
export function findOrInstall(
  name: 'chromium' | 'nats' | 's3' | 'compose' | 'kustomize' | 'openapi-generator' | 'helm' | 'promtool',
): string | undefined {
  const node = join(root, 'node_modules/.bin/node');
  const { status, stdout, stderr } = spawnSync(
    node,
    ['tools/development/launcher/servers/find-or-install.mjs', name],
    {
      cwd: root,
      encoding: 'utf8',
    },
  );
  if (status === 0) return stdout.trim();
  process.stderr.write(`NOT TESTED: ${name} ${stderr}\n`);
  return undefined;
}
