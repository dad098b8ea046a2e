import { LauncherError } from './run.mjs';

/** As the longest name, `data-exchange-worker`. */
const nameWidth = 20;
const reminderMilliseconds = 20_000;

/**
 * Shows what is going on, one short line at a time.
 * @param {(line: string) => void} print
 */
export function createProgress(print) {
  const line = (/** @type {string} */ mark, /** @type {string} */ name, /** @type {string} */ text) =>
    print(`${mark} ${name.padEnd(nameWidth)} ${text}`);

  return {
    print,
    /** @param {string} name @param {string} text */
    info: (name, text) => line('-', name, text),
    /** @param {string} name @param {unknown} error */
    fail: (name, error) => line('✗', name, error instanceof Error ? error.message : String(error)),
    /**
     * Runs one piece of work. `doing` shows what it does, and `progress` how far it is, in the reminders of a long one.
     * @template T
     * @param {string} name
     * @param {(task: Task) => Promise<T>} work
     * @returns {Promise<T>}
     */
    async task(name, work) {
      const beganAt = Date.now();
      let doing = '';
      let done = '';
      let result = 'ready';
      const reminder = setInterval(() => {
        if (doing !== '') line('…', name, `${doing}${done}, ${elapsed(beganAt)}`);
      }, reminderMilliseconds);
      try {
        const value = await work({
          doing: (text) => {
            doing = text;
            done = '';
            line('…', name, text);
          },
          progress: (text) => (done = `, ${text}`),
          result: (text) => (result = text),
        });
        line('✓', name, `${result} (${elapsed(beganAt)})`);
        return value;
      } catch (error) {
        if (error instanceof LauncherError && error.wasShown) line('✗', name, 'not started');
        else line('✗', name, error instanceof Error ? error.message : String(error));
        if (error instanceof LauncherError) error.wasShown = true;
        throw error;
      } finally {
        clearInterval(reminder);
      }
    },
  };
}

/** @typedef {ReturnType<typeof createProgress>} Progress */
/** @typedef {Record<'doing' | 'progress' | 'result', (text: string) => void>} Task */

/** @param {number} since */
export function elapsed(since) {
  const seconds = (Date.now() - since) / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}
