import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(__dirname, '../../..');

/**
 * What is wrong with the environments of containers, each with the name of its image (a service or `migrate`), to the
 * programs in them. For specs: jest cannot load the modules that read them.
 */
export function errorsOf(containers: readonly (readonly [string, Record<string, string>])[]): string[][] {
  const node = join(root, 'node_modules/.bin/node');
  return JSON.parse(
    execFileSync(node, ['tools/release/configuration/errors.ts'], {
      cwd: root,
      encoding: 'utf8',
      input: JSON.stringify(containers),
    }),
  );
}
