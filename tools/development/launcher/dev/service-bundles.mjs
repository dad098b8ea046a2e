import { basename, join } from 'node:path';
import { context, formatMessagesSync } from 'esbuild';
import { entryPointsOf, publish, serviceBundleOptions } from '../../build/bundle-services.ts';
import { root } from '../paths.mjs';
import { LauncherError } from '../run.mjs';

/** @typedef {import('../services.mjs').Service} Service */

/**
 * The programs of one service, rebuilt when a file changes that they are made of.
 * @param {Service} service
 */
export async function serviceBundle(service) {
  const build = await context({
    ...serviceBundleOptions,
    entryPoints: entryPointsOf(service),
    metafile: true,
  });
  /** @type {Set<string>} */
  let inputs = new Set();
  let isBroken = false;

  /**
   * Returns the processes that have a new program, and whether the service builds again after an error.
   * @returns {Promise<{ processes: string[], isMended: boolean }>}
   */
  async function rebuild() {
    try {
      const { metafile, outputFiles } = await build.rebuild();
      inputs = new Set(Object.keys(metafile.inputs).map((path) => join(root, path)));
      const isMended = isBroken;
      isBroken = false;
      return { processes: processesOf(service, outputFiles.filter(publish)), isMended };
    } catch (error) {
      isBroken = true;
      throw new LauncherError(describe(error));
    }
  }

  return {
    service,
    rebuild,
    /** What is broken may wait for any file. @param {ReadonlySet<string>} paths */
    isMadeOf: (paths) => isBroken || [...paths].some((path) => inputs.has(path)),
  };
}

/** @typedef {Awaited<ReturnType<typeof serviceBundle>>} ServiceBundle */

/** A program of its own belongs to one process, anything else to all. @param {Service} service @param {{ path: string }[]} changed */
function processesOf({ name, hasWorker }, changed) {
  const programs = new Set(changed.map(({ path }) => basename(path).replace(/\.map$/, '')));
  if (programs.size === 0) return [];
  const all = hasWorker ? [name, `${name}-worker`] : [name];
  return all.filter((process) => {
    const others = [process === name ? 'worker.js' : 'main.js'];
    return [...programs].some((program) => !others.includes(program));
  });
}

/** The places of what is wrong. @param {unknown} error */
function describe(error) {
  const { errors } = /** @type {Partial<import('esbuild').BuildFailure>} */ (error);
  if (errors === undefined) return String(error);
  const messages = formatMessagesSync(errors, { kind: 'error', color: process.stdout.isTTY });
  return `${messages.join('').trimEnd()}\nThe processes go on with the program from before.`;
}
