import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(__dirname, '../../..');

/** Builds what processes are started from and what browsers get, to `dist/apps`, unless nothing of it was written since. */
export function prepareCode(): void {
  const node = join(root, 'node_modules/.bin/node');
  execFileSync(node, ['tools/development/launcher/prepare-code.mjs'], { cwd: root });
}
