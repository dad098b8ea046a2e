import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { withLock } from '../launcher/lock.mjs';

const root = join(__dirname, '../../..');

describe('a build', () => {
  it('waits for another one of the same checkout', async () => {
    const lock = join(root, 'dist/build.lock');
    const { build, output } = await withLock(lock, async () => {
      const build = spawn(
        join(root, 'node_modules/.bin/node'),
        ['tools/development/build/build.ts', 'none'],
        {
          cwd: root,
        },
      );
      const [line] = await Promise.race([once(build.stderr, 'data'), once(build, 'exit')]);
      expect(String(line)).toContain(`waiting for process ${process.pid}`);
      return { build, output: text(build.stdout) };
    });
    const [code] = await once(build, 'exit');
    expect([code, await output]).toEqual([0, 'up to date\n']);
  });
});
