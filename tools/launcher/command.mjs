import { LauncherError } from './run.mjs';

/**
 * Runs a command; what a person can do something about is told in a sentence, a defect with its stack.
 * @param {() => Promise<unknown>} command
 */
export async function runCommand(command) {
  // Whoever reads our lines may leave early (`npm start | head`).
  process.stdout.on('error', () => {});
  try {
    await command();
  } catch (error) {
    console.error(error instanceof LauncherError ? error.message : error);
    process.exitCode = 1;
  }
}
