import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { runCommand } from './command.mjs';
import { readOptions } from './options.mjs';
import { projectNode, root } from './paths.mjs';
import { isRunning, readState } from './state.mjs';

/**
 * `npm run demo`: a real translation file in and out, on a platform that is started where it does not run. All
 * flags are the demo's own; where the platform is, the environment says.
 */
await runCommand(async () => {
  const { layout } = readOptions([]);
  const options = /** @type {const} */ ({ cwd: root, stdio: 'inherit' });
  const start = fileURLToPath(new URL('start.mjs', import.meta.url));
  const started = spawnSync(process.execPath, [start, '--detach'], options);
  const state = readState(layout);
  if (started.status !== 0 || !isRunning(state)) {
    process.exitCode = 1;
    return;
  }
  const env = { ...process.env, PLINTH_URL: state.url };
  const demo = spawnSync(projectNode(), ['tools/demo/demo.ts', ...process.argv.slice(2)], {
    ...options,
    env,
  });
  process.exitCode = demo.status ?? 1;
});
