import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { runCommand } from './command.mjs';
import { readOptions } from './options.mjs';
import { projectNode, root } from './paths.mjs';
import { isRunning, readState } from './state.mjs';

const options = /** @type {const} */ ({ cwd: root, stdio: 'inherit' });

/**
 * `npm run demo`: a real translation file in and out, on the platform at `PLINTH_URL`, else on this machine's, which
 * is started where it does not run. All flags are the demo's own.
 */
await runCommand(async () => {
  const url = process.env.PLINTH_URL ?? startPlatform();
  if (url === undefined) {
    process.exitCode = 1;
    return;
  }
  const env = { ...process.env, PLINTH_URL: url };
  const demo = spawnSync(projectNode(), ['tools/development/demo/demo.ts', ...process.argv.slice(2)], {
    ...options,
    env,
  });
  process.exitCode = demo.status ?? 1;
});

/** Its address; undefined if it did not start. @returns {string | undefined} */
function startPlatform() {
  const { layout } = readOptions([]);
  const start = fileURLToPath(new URL('start.mjs', import.meta.url));
  const started = spawnSync(process.execPath, [start, '--detach'], options);
  const state = readState(layout);
  return started.status === 0 && isRunning(state) ? state.url : undefined;
}
