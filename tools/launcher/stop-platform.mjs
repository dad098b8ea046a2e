import { endProcess } from './process-identity.mjs';
import { endOrphans, isRunning, readState } from './state.mjs';

const graceSeconds = 90;

/**
 * Ends a launcher with everything it runs, or what a killed launcher left behind.
 * @param {import('./paths.mjs').Layout} layout
 * @returns {Promise<boolean>} whether there was anything to end
 */
export async function stopPlatform(layout) {
  const state = readState(layout);
  const wasRunning = isRunning(state);
  if (wasRunning && state.launcher !== undefined) await endProcess(state.launcher, 'SIGTERM', graceSeconds);
  return (await endOrphans(layout)) > 0 || wasRunning;
}
