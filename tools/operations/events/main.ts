import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from '../../development/launcher/paths.mjs';

const USAGE = `npm run events -- chaos [events]    check exactly-once processing with so many events (100000)`;

/** `npm run events`: checks that events are processed exactly once. */
function main([command, events = '100000']: string[]) {
  if (command !== 'chaos' || !/^[1-9]\d*$/.test(events)) {
    console.error(USAGE);
    process.exitCode = 2;
    return;
  }
  const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
  const { status } = spawnSync(process.execPath, [jest, 'libs/runtime/test/event-chaos.spec.ts'], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, CHAOS_EVENTS: events },
  });
  process.exitCode = status ?? 1;
}

main(process.argv.slice(2));
