import { rmSync } from 'node:fs';
import { seed } from '../seed/seed.mjs';
import { withLock } from './lock.mjs';
import { sendToStarter } from './messages.mjs';
import { createFolders } from './paths.mjs';
import { startPlatform } from './platform.mjs';
import { createProgress, elapsed } from './progress.mjs';
import { LauncherError } from './run.mjs';
import { stopOrphans, isRunning, readState } from './state.mjs';
import { stopOnce } from './stop-once.mjs';
import { Supervisor } from './supervisor.mjs';
import { demoToken, examplesOf, welcome } from './welcome.mjs';

/**
 * What runs, for `npm run dev`.
 * @typedef {Awaited<ReturnType<typeof startPlatform>> & { supervisor: Supervisor, progress: import('./progress.mjs').Progress }} RunningPlatform
 */

/**
 * Starts everything and keeps it running until a signal stops this process, or the process that it was started for ends.
 * @param {import('./options.mjs').Options} options
 * @param {(platform: RunningPlatform) => Promise<void>} [watch] restarts what changes
 */
export async function runPlatform({ layout, port, only, inspect, supervised, parent }, watch) {
  const beganAt = Date.now();
  const url = `http://localhost:${port}`;
  const print = (/** @type {string} */ line) => {
    console.log(line);
    sendToStarter({ line });
  };
  const progress = createProgress(print);
  const supervisor = await takeOver(layout, url, progress, watch !== undefined);

  const stop = async (/** @type {number} */ code) => {
    await supervisor.stop();
    rmSync(layout.state, { force: true });
    process.exit(code);
  };
  stopOnce(() => {
    print('stopping …');
    void stop(0);
  }, parent);

  try {
    const publicUrl = process.env.PUBLIC_URL ?? url;
    const platform = await startPlatform({ layout, supervisor, progress, port, only, publicUrl, inspect });
    const { temporalPages } = platform;
    const token = await demoToken(url);
    if (token !== undefined && only === undefined) await seed({ url, token });
    supervisor.describe({ ready: true, temporalPages });
    const howToStop = supervised ? '`npm run status` shows it, `npm run stop` stops it.' : 'Ctrl-C stops it.';
    print(
      welcome({
        url,
        token,
        temporalPages,
        layout,
        examples: await examplesOf(url, only),
        footer: `Ready after ${elapsed(beganAt)}. ${howToStop}`,
      }),
    );
    sendToStarter({ ready: true });
    await watch?.({ ...platform, supervisor, progress });
  } catch (error) {
    if (supervisor.isStopping) return;
    // A part that failed has printed a line of its own.
    if (!(error instanceof LauncherError) || !error.wasShown)
      print(String(error instanceof Error ? error.message : error));
    sendToStarter({ failed: true });
    await stop(1);
  }
}

/**
 * Makes this process the launcher of its data folder, and stops what a killed one left running.
 * @param {import('./paths.mjs').Layout} layout
 * @param {string} url
 * @param {import('./progress.mjs').Progress} progress
 * @param {boolean} waitsForRestart
 */
function takeOver(layout, url, progress, waitsForRestart) {
  createFolders(layout);
  return withLock(layout.lock, async () => {
    const state = readState(layout);
    if (isRunning(state)) {
      throw new LauncherError(
        `Plinth is running here already, started by process ${state.launcher?.pid}: \`npm run stop\` stops it.`,
      );
    }
    const orphans = await stopOrphans(layout);
    if (orphans > 0) progress.info('launcher', `stopped ${orphans} processes of a launcher that was killed`);
    const onExit = (
      /** @type {string} */ name,
      /** @type {string} */ how,
      /** @type {boolean} */ isRelaunched,
    ) =>
      progress.info(
        name,
        `exited (${how}); ${isRelaunched ? 'starting it again' : 'waits for the next save'}`,
      );
    return new Supervisor(layout, { details: { url }, onExit, waitsForRestart });
  });
}
