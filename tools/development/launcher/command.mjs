import { LauncherError } from './run.mjs';

/**
 * Runs a command; an error that a person can do something about is printed as a sentence, a defect with its stack.
 * @param {() => Promise<unknown>} command
 */
export async function runCommand(command) {
  // The reader of our lines may leave early (`npm start | head`).
  process.stdout.on('error', () => {});
  try {
    await command();
  } catch (error) {
    console.error(error instanceof LauncherError ? error.message : error);
    process.exitCode = 1;
  }
}
