import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { runCommand } from './command.mjs';
import { createFolders } from './paths.mjs';
import { readOptions } from './options.mjs';
import { runDetached } from './run-detached.mjs';
import { runPlatform } from './run-platform.mjs';
import { isRunning, readState } from './state.mjs';

/** `npm start`: everything, in the foreground until Ctrl-C. With `--detach` it returns when all is ready. */
await runCommand(async () => {
  const options = readOptions();
  if (options.supervised) return runPlatform(options);
  if (await isReady(options.layout)) {
    console.log(
      `Plinth is running at ${readState(options.layout).url}: \`npm run status\` shows it, \`npm run stop\` stops it.`,
    );
    return;
  }
  if (!options.detach) return runPlatform(options);
  createFolders(options.layout);
  const args = [...process.argv.slice(2).filter((argument) => argument !== '--detach'), '--supervised'];
  await runDetached(fileURLToPath(import.meta.url), args, options.layout.log('launcher'));
});

/**
 * Whether a launcher runs here; one that is still starting is waited for.
 * @param {import('./paths.mjs').Layout} layout
 */
async function isReady(layout) {
  for (;;) {
    const state = readState(layout);
    if (!isRunning(state)) return false;
    if (state.ready === true) return true;
    await pause(200);
  }
}
