import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(__dirname, '../../..');

/**
 * Where a program is that only some tests need, brought as the launcher brings its servers; the first time on a
 * machine this may take minutes. Where it cannot be had, says so once and answers undefined.
 */
export function broughtProgram(name: 'chromium' | 's3' | 'compose' | 'kustomize'): string | undefined {
  const node = join(root, 'node_modules/.bin/node');
  const { status, stdout, stderr } = spawnSync(node, ['tools/launcher/servers/bring.mjs', name], {
    cwd: root,
    encoding: 'utf8',
  });
  if (status === 0) return stdout.trim();
  process.stderr.write(`NOT TESTED: ${name} ${stderr}\n`);
  return undefined;
}
