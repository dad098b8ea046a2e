import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { withLock } from '../lock.mjs';
import { cacheDirectory } from '../paths.mjs';
import { LauncherError, run } from '../run.mjs';
import { findProgram } from './find-program.mjs';
import { fetchFile } from './fetch-file.mjs';

/** @typedef {import('../progress.mjs').Task} Task */
/** @typedef {{ program: string, from: string }} Found */

/**
 * One way to find or install a program. It returns undefined when it does not apply here, and fails when it applies
 * and did not work.
 * @typedef {(task: Task) => Promise<Found | undefined>} Way
 */

/** @typedef {{ ways: Way[], advice: string }} Source */
/** @typedef {{ name: string, version: string }} Program */

/**
 * Tries the ways in their order.
 * @param {Source} source
 * @param {Task} task
 * @returns {Promise<Found>}
 */
export async function findOrInstall(source, task) {
  const errors = [];
  for (const way of source.ways) {
    try {
      const found = await way(task);
      if (found !== undefined) return found;
    } catch (error) {
      errors.push(error instanceof Error ? error.message : String(error));
    }
  }
  throw new LauncherError([`is not available. ${source.advice}`, ...errors].join('\n  '));
}

/**
 * A program whose path is in the environment.
 * @param {string} variable
 * @returns {Way}
 */
export function setIn(variable) {
  return async () => {
    const program = process.env[variable];
    return program === undefined ? undefined : { program, from: `${variable}=${program}` };
  };
}

/**
 * A program that is already installed.
 * @param {string[]} names
 * @param {{ versionMin?: string, alsoAt?: string[] }} [options]
 * @returns {Way}
 */
export function onPath(names, { versionMin, alsoAt = [] } = {}) {
  return async () => {
    for (const name of names) {
      const program = findProgram(name);
      if (program === undefined) continue;
      if (versionMin === undefined || isAtLeast(await run(program, ['--version']), versionMin)) {
        return { program, from: program };
      }
    }
    const program = alsoAt.find(existsSync);
    return program === undefined ? undefined : { program, from: program };
  };
}

/** @param {Program} wanted @returns {Way} */
export function cached(wanted) {
  return async () => {
    const program = join(cacheFolder(wanted), wanted.name);
    return existsSync(program) ? { program, from: `${wanted.version} from the cache` } : undefined;
  };
}

/**
 * Builds a pinned version with the machine's Go.
 * @param {Program} wanted
 * @param {string} module
 * @param {{ packages: number, duration: string }} size
 * @returns {Way}
 */
export function goInstall(wanted, module, { packages, duration }) {
  return async (task) => {
    const go = findProgram('go', ['/usr/local/go/bin', '/usr/lib/go/bin']);
    if (go === undefined) return undefined;
    return intoCache(wanted, task, (folder) => {
      task.doing(`going to build ${wanted.name} with Go`);
      return oneBuildAtATime(async () => {
        task.doing(`building ${wanted.name} ${wanted.version} with Go (${duration}, once on this machine)`);
        let lines = 0;
        await run(go, ['install', '-v', module], {
          name: `go install ${module}`,
          env: { ...process.env, GOBIN: folder },
          onOutput: (chunk) => {
            // Go names each package that it has compiled.
            lines += chunk.split('\n').filter((line) => line !== '' && !line.startsWith('go: ')).length;
            task.progress(`${Math.min(99, Math.round((100 * lines) / packages))} %`);
          },
        });
        return 'built with Go';
      });
    });
  };
}

/**
 * Fetches the makers' own archive; gives up within seconds where their host cannot be reached.
 * @param {Program} wanted
 * @param {(machine: { os: string, arch: string }) => string[]} urlsFor
 * @returns {Way}
 */
export function download(wanted, urlsFor) {
  return async (task) => {
    const arch = new Map([
      ['x64', 'amd64'],
      ['arm64', 'arm64'],
    ]).get(process.arch);
    if (arch === undefined || !['linux', 'darwin'].includes(process.platform)) return undefined;
    return intoCache(wanted, task, async (folder) => {
      const archive = join(folder, 'archive.tar.gz');
      task.doing(`downloading ${wanted.name} ${wanted.version}`);
      await writeFile(archive, await fetchFile(urlsFor({ os: process.platform, arch })));
      await run('tar', ['-xzf', archive, '-C', folder]);
      rmSync(archive);
      liftProgram(folder, wanted.name);
      return 'downloaded';
    });
  };
}

/**
 * Debian's package, as root or with a sudo that needs no password.
 * @param {string} packageName
 * @param {string} programName
 * @param {string[]} along packages that are installed with it
 * @returns {Way}
 */
export function debianPackage(packageName, programName, ...along) {
  return async (task) => {
    const apt = findProgram('apt-get');
    if (apt === undefined) return undefined;
    const asRoot = process.getuid?.() === 0 ? [apt] : await sudoWithoutPassword(apt);
    if (asRoot === undefined) return undefined;
    await oneInstallAtATime(async () => {
      task.doing(`installing Debian's ${packageName}`);
      await refreshPackageLists(asRoot);
      await runApt(asRoot, ['install', '-y', '--no-install-recommends', packageName, ...along]);
    });
    const program = findProgram(programName);
    return program === undefined ? undefined : { program, from: `Debian's ${packageName}` };
  };
}

/** @param {string} formula @param {string} programName @returns {Way} */
export function brew(formula, programName) {
  return async (task) => {
    const program = findProgram('brew');
    if (program === undefined) return undefined;
    await oneInstallAtATime(async () => {
      task.doing(`installing ${formula} with Homebrew`);
      await run(program, ['install', '--quiet', formula], { name: `brew install ${formula}` });
    });
    const found = findProgram(programName);
    return found === undefined ? undefined : { program: found, from: 'Homebrew' };
  };
}

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
async function intoCache(wanted, task, make) {
  const final = cacheFolder(wanted);
  const onWait = (/** @type {number} */ pid) =>
    task.doing(`waiting for process ${pid}, which is installing it`);
  return withLock(
    `${final}.lock`,
    async () => {
      const program = join(final, wanted.name);
      if (existsSync(program)) return { program, from: `${wanted.version} from the cache` };
      // We hold the lock, so what is there was left by an attempt that was killed.
      const draft = `${final}.draft`;
      rmSync(draft, { recursive: true, force: true });
      mkdirSync(draft, { recursive: true });
      try {
        const how = await make(draft);
        if (!existsSync(join(draft, wanted.name)))
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

/** Archives differ in whether they have a top folder. @param {string} folder @param {string} programName */
function liftProgram(folder, programName) {
  const entries = readdirSync(folder, { recursive: true }).map(String);
  const inner = entries.find((entry) => basename(entry) === programName && entry !== programName);
  if (!entries.includes(programName) && inner !== undefined) {
    renameSync(join(folder, inner), join(folder, programName));
  }
}

/** @param {string} output what `--version` printed @param {string} versionMin */
export function isAtLeast(output, versionMin) {
  const found = /(\d+)\.(\d+)/.exec(output);
  const [major = 0, minor = 0] = (found ?? []).slice(1).map(Number);
  const [majorMin = 0, minorMin = 0] = versionMin.split('.').map(Number);
  return major > majorMin || (major === majorMin && minor >= minorMin);
}

/** @param {string} apt */
async function sudoWithoutPassword(apt) {
  const sudo = findProgram('sudo');
  if (sudo === undefined) return undefined;
  try {
    await run(sudo, ['-n', 'true']);
    return [sudo, '-n', apt];
  } catch {
    return undefined;
  }
}

/** Two builds at once would each take twice as long, and the first one can be used earlier. */
const oneBuildAtATime = createQueue();

/** Package managers lock their own database. */
const oneInstallAtATime = createQueue();

function createQueue() {
  /** @type {Promise<unknown>} */
  let last = Promise.resolve();
  /** @type {<T>(work: () => Promise<T>) => Promise<T>} */
  return (work) => {
    const turn = last.then(work, work);
    last = turn.catch(() => {});
    return turn;
  };
}

/** @type {Promise<unknown> | undefined} */
let packageLists;

/** Once per start: old lists name versions that are gone. @param {string[]} asRoot */
function refreshPackageLists(asRoot) {
  packageLists ??= runApt(asRoot, ['update']).catch(() => {});
  return packageLists;
}

/** @param {string[]} asRoot @param {string[]} args */
function runApt([program, ...before], args) {
  return run(/** @type {string} */ (program), [...before, ...args, '-q', '-o', 'DPkg::Lock::Timeout=120'], {
    name: `apt-get ${args[0]}`,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    // Ended half-way it would leave the machine's packages half configured.
    detached: true,
  });
}
