import { rmSync } from 'node:fs';
import { seed } from '../seed/seed.mjs';
import { withLock } from './lock.mjs';
import { tell } from './messages.mjs';
import { createFolders } from './paths.mjs';
import { startPlatform } from './platform.mjs';
import { createProgress, elapsed } from './progress.mjs';
import { LauncherError } from './run.mjs';
import { endOrphans, isRunning, readState } from './state.mjs';
import { Supervisor } from './supervisor.mjs';
import { demoToken, examplesOf, welcome } from './welcome.mjs';

/**
 * Starts everything and keeps it running until a signal ends this process.
 * @param {import('./options.mjs').Options} options
 */
export async function runPlatform({ layout, port, only, supervised }) {
  const beganAt = Date.now();
  const url = `http://localhost:${port}`;
  const say = (/** @type {string} */ line) => {
    console.log(line);
    tell({ line });
  };
  const progress = createProgress(say);
  const supervisor = await takeOver(layout, url, progress);

  const end = async (/** @type {number} */ code) => {
    await supervisor.stop();
    rmSync(layout.state, { force: true });
    process.exit(code);
  };
  onFirstSignal(() => {
    say('stopping …');
    void end(0);
  });

  try {
    const publicUrl = process.env.PUBLIC_URL ?? url;
    const { temporalPages } = await startPlatform({ layout, supervisor, progress, port, only, publicUrl });
    const token = await demoToken(url);
    if (token !== undefined && only === undefined) await seed({ url, token });
    supervisor.note({ ready: true, temporalPages });
    const howToStop = supervised ? '`npm run status` shows it, `npm run stop` ends it.' : 'Ctrl-C ends it.';
    say(
      welcome({
        url,
        token,
        temporalPages,
        layout,
        examples: await examplesOf(url, only),
        footer: `Ready after ${elapsed(beganAt)}. ${howToStop}`,
      }),
    );
    tell({ ready: true });
  } catch (error) {
    if (supervisor.isStopping) return;
    // A part that failed has said so in its own line.
    if (!(error instanceof LauncherError) || !error.wasShown)
      say(String(error instanceof Error ? error.message : error));
    tell({ failed: true });
    await end(1);
  }
}

/**
 * Makes this process the launcher of its data folder, and ends what a killed one left behind.
 * @param {import('./paths.mjs').Layout} layout
 * @param {string} url
 * @param {import('./progress.mjs').Progress} progress
 */
function takeOver(layout, url, progress) {
  createFolders(layout);
  return withLock(layout.lock, async () => {
    const state = readState(layout);
    if (isRunning(state)) {
      throw new LauncherError(`Plinth is being started here already, by process ${state.launcher?.pid}.`);
    }
    const orphans = await endOrphans(layout);
    if (orphans > 0) progress.note('launcher', `ended ${orphans} processes of a launcher that was killed`);
    const onEnd = (/** @type {string} */ name, /** @type {string} */ how) =>
      progress.note(name, `ended (${how}), starting it again`);
    return new Supervisor(layout, { details: { url }, onEnd });
  });
}

/** @param {() => void} stop */
function onFirstSignal(stop) {
  let stopping = false;
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.on(signal, () => {
      if (!stopping) stop();
      stopping = true;
    });
  }
}
