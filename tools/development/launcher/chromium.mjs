import { existsSync } from 'node:fs';
import { cachedProgram } from './servers/cache.mjs';
import { findProgram } from './servers/find-program.mjs';
import { chromiumApplications, sources } from './servers/sources.mjs';
import { findOrInstall, mayInstall } from './servers/strategies.mjs';
import { unpackedProgram } from './servers/unpacked-package.mjs';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const whereDebianPutsIt = '/usr/bin/chromium';

/**
 * The path of the browser that prints PDF. Where there is none it is installed in the background, and the path is
 * the one it will have: nothing waits for it, and without it everything but PDF works.
 * @param {import('./progress.mjs').Progress} progress
 * @returns {Promise<string | undefined>}
 */
export async function locateChromium(progress) {
  const found =
    names.map((name) => findProgram(name)).find((program) => program !== undefined) ??
    chromiumApplications.find((program) => existsSync(program));
  const chosen = process.env.PUPPETEER_EXECUTABLE_PATH ?? found;
  if (chosen !== undefined) return chosen;
  const unpacked = cachedProgram(unpackedProgram('chromium'));
  if (existsSync(unpacked)) return unpacked;
  progress
    .task('chromium', async (task) => {
      const { from } = await findOrInstall(sources.chromium, task);
      task.result(from);
    })
    .catch(() => {});
  if (findProgram('apt-get') === undefined) return undefined;
  return (await mayInstall()) ? whereDebianPutsIt : unpacked;
}
