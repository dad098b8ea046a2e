import { stopProcess } from './process-identity.mjs';
import { stopOrphans, isRunning, readState } from './state.mjs';

const graceSeconds = 90;

/**
 * Stops a launcher with everything it runs, or what a killed launcher left running.
 * @param {import('./paths.mjs').Layout} layout
 * @returns {Promise<boolean>} whether anything was running
 */
export async function stopPlatform(layout) {
  const state = readState(layout);
  const wasRunning = isRunning(state);
  if (wasRunning && state.launcher !== undefined) await stopProcess(state.launcher, 'SIGTERM', graceSeconds);
  return (await stopOrphans(layout)) > 0 || wasRunning;
}
