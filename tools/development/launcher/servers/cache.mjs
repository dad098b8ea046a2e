import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { withLock } from '../lock.mjs';
import { cacheDirectory } from '../paths.mjs';
import { LauncherError } from '../run.mjs';

/** @typedef {import('../progress.mjs').Task} Task */
/** @typedef {{ name: string, version: string, path?: string }} Program `path` inside its folder, where it is not the name */
/** @typedef {{ program: string, from: string }} Found */

/** Where a program of the cache is, or will be. @param {Program} wanted */
export function cachedProgram(wanted) {
  return join(cacheFolder(wanted), pathOf(wanted));
}

/** @param {Program} wanted */
const pathOf = ({ name, path = name }) => path;

/** @param {Program} wanted */
function cacheFolder({ name, version }) {
  return join(cacheDirectory(), `${name}-${version}`);
}

/**
 * Makes a program in a folder of its own and publishes it in one step: two checkouts may do this at the same
 * time, and a killed attempt leaves nothing that looks finished.
 * @param {Program} wanted
 * @param {Task} task
 * @param {(folder: string) => Promise<string>} make
 * @returns {Promise<Found>}
 */
export async function intoCache(wanted, task, make) {
  const final = cacheFolder(wanted);
  const onWait = (/** @type {number} */ pid) =>
    task.doing(`waiting for process ${pid}, which is installing it`);
  return withLock(
    `${final}.lock`,
    async () => {
      const program = cachedProgram(wanted);
      if (existsSync(program)) return { program, from: `${wanted.version} from the cache` };
      // We hold the lock, so what is there was left by an attempt that was killed.
      const draft = `${final}.draft`;
      rmSync(draft, { recursive: true, force: true });
      mkdirSync(draft, { recursive: true });
      try {
        const how = await make(draft);
        if (!existsSync(join(draft, pathOf(wanted))))
          throw new LauncherError(`${wanted.name} was not in what was installed`);
        rmSync(final, { recursive: true, force: true });
        renameSync(draft, final);
        return { program, from: `${wanted.version}, ${how}` };
      } finally {
        rmSync(draft, { recursive: true, force: true });
      }
    },
    { onWait },
  );
}
