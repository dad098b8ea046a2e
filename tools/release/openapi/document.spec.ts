import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(__dirname, '../../..');

describe('openapi/plinth.json and docs/limits-of-each-call.md', () => {
  it('are generated from the contracts as they are (`npm run openapi`)', () => {
    const node = join(root, 'node_modules/.bin/node');
    const check = () =>
      execFileSync(node, ['tools/release/openapi/main.ts', '--check'], { cwd: root, stdio: 'pipe' });
    expect(check).not.toThrow();
  });
});
