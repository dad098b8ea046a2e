import { existsSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { elapsed } from '../progress.mjs';
import { projectNode, root } from '../paths.mjs';
import { run } from '../run.mjs';
import { serviceBundle } from './service-bundles.mjs';
import { watchFolders } from './watch-folders.mjs';

/** Editors write a file in several steps, and several files at once. */
const settleMilliseconds = 30;
const readyWithinSeconds = 60;

/**
 * Watches the sources of what runs: generates, migrates, builds and restarts what a save has changed.
 * @param {import('../run-platform.mjs').RunningPlatform} platform
 */
export async function watchSources({ services, supervisor, progress, migrate }) {
  const bundles = await Promise.all(services.map(serviceBundle));
  await Promise.all(bundles.map(({ rebuild }) => rebuild()));
  /** The restart of each process that is the last one. @type {Map<string, number>} */
  const restarts = new Map();
  let changed = /** @type {Set<string>} */ (new Set());
  let savedAt = 0;
  let isWorking = false;

  const folders = services.flatMap(({ directory }) => [join(directory, 'src'), join(directory, 'prisma')]);
  watchFolders([...folders, join(root, 'libs')], (path) => {
    if (changed.size === 0) savedAt = Date.now();
    changed.add(path);
    if (!isWorking) void work();
  });
  progress.info('dev', 'waits for changes in apps and libs');

  async function work() {
    isWorking = true;
    await new Promise((resolve) => setTimeout(resolve, settleMilliseconds));
    while (changed.size > 0 && !supervisor.isStopping) {
      const paths = changed;
      changed = new Set();
      // What is wrong is shown; the next save is the next attempt.
      await apply(paths, savedAt).catch(() => {});
    }
    isWorking = false;
  }

  /** @param {Set<string>} paths @param {number} since */
  async function apply(paths, since) {
    const some = (/** @type {RegExp} */ pattern) =>
      [...paths].some((path) => pattern.test(path.replaceAll(sep, '/')));
    if (some(/\/migrations\/|\.sql$/)) await migrate();
    const isGenerated = some(/\/schema\.prisma$|\.proto$/);
    if (isGenerated) await runTool('generate');
    const workers = some(/\/temporal\/.*workflow/) ? await bundleWorkflows() : [];
    const affected = bundles.filter(({ isMadeOf }) => isGenerated || isMadeOf(paths));
    const built = await Promise.all(affected.map(rebuild));
    const names = new Set([...built.flat(), ...workers]);
    await Promise.all([...names].map((name) => restart(name, paths, since)));
  }

  /** @param {import('./service-bundles.mjs').ServiceBundle} bundle */
  async function rebuild({ service, rebuild }) {
    try {
      const { processes, isMended } = await rebuild();
      if (isMended && processes.length === 0) progress.info(service.name, 'builds again, as it runs');
      return processes;
    } catch (error) {
      progress.fail(service.name, error);
      return [];
    }
  }

  /** @param {string} name */
  function runTool(name) {
    return progress.task(name, async (task) => {
      const tool = [`tools/development/build/${name}.ts`];
      const output = await run(projectNode(), tool, { name, cwd: root });
      task.result(output.trim());
      return output;
    });
  }

  /** Returns the workers whose workflows changed. */
  async function bundleWorkflows() {
    const output = await runTool('build');
    return services
      .filter(({ name, hasWorker }) => hasWorker && output.includes(`workflows of ${name}`))
      .map(({ name }) => `${name}-worker`);
  }

  /**
   * Does not wait for the process to be ready, so that the next save can end it again.
   * @param {string} name
   * @param {Set<string>} paths
   * @param {number} since
   */
  async function restart(name, paths, since) {
    const number = (restarts.get(name) ?? 0) + 1;
    restarts.set(name, number);
    await supervisor.restart(name);
    const isLast = () => restarts.get(name) === number && !supervisor.isStopping;
    supervisor.untilReady(name, readyWithinSeconds).then(
      () => {
        if (isLast()) progress.info(name, `restarted ${elapsed(since)} after the save of ${list(paths)}`);
      },
      (error) => {
        if (isLast()) progress.fail(name, error);
      },
    );
  }
}

/** @param {Set<string>} paths */
function list(paths) {
  // Editors write files that they remove again.
  const [first = 'a file', ...others] = [...paths].filter(existsSync).map((path) => relative(root, path));
  return others.length === 0 ? first : `${first} and ${others.length} more`;
}
