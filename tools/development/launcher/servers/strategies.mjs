import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { withLock } from '../lock.mjs';
import { cacheDirectory } from '../paths.mjs';
import { LauncherError, run } from '../run.mjs';
import { cachedProgram, intoCache } from './cache.mjs';
import { fetchFile } from './fetch-file.mjs';
import { findProgram } from './find-program.mjs';
import { findGo } from './go-toolchain.mjs';
import { machineName } from './machine.mjs';
import { isAtLeast } from './versions.mjs';

/** @typedef {import('./cache.mjs').Task} Task */
/** @typedef {import('./cache.mjs').Found} Found */
/** @typedef {import('./cache.mjs').Program} Program */

/**
 * One way to find or install a program. It returns undefined when it does not apply here, and fails when it applies
 * and did not work.
 * @typedef {(task: Task) => Promise<Found | undefined>} Way
 */

/** @typedef {{ ways: Way[], advice: string }} Source */

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
    const program = cachedProgram(wanted);
    return existsSync(program) ? { program, from: `${wanted.version} from the cache` } : undefined;
  };
}

/**
 * Builds a pinned version with Go, which verifies each module by the checksum that Go's own log of them has.
 * @param {Program} wanted
 * @param {string} module
 * @param {{ packages: number, duration: string }} size
 * @returns {Way}
 */
export function goInstall(wanted, module, { packages, duration }) {
  return async (task) => {
    const go = await oneBuildAtATime(() => findGo(task));
    if (go === undefined) return undefined;
    return intoCache(wanted, task, (folder) => {
      task.doing(`going to build ${wanted.name} with Go`);
      return oneBuildAtATime(async () => {
        task.doing(`building ${wanted.name} ${wanted.version} with Go (${duration}, once on this machine)`);
        let lines = 0;
        await run(go, ['install', '-v', module], {
          name: `go install ${module}`,
          // Without C: a bare machine has no compiler for it.
          env: { ...process.env, GOBIN: folder, CGO_ENABLED: '0' },
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
 * @param {import('./machine.mjs').ByMachine} checksums sha256 of each archive
 * @param {(machine: { os: string, arch: string }) => string[]} urlsFor
 * @returns {Way}
 */
export function download(wanted, checksums, urlsFor) {
  return async (task) => {
    const machine = machineName();
    if (machine === undefined) return undefined;
    const [os = '', arch = ''] = machine.split('-');
    return intoCache(wanted, task, async (folder) => {
      const archive = join(folder, 'archive.tar.gz');
      task.doing(`downloading ${wanted.name} ${wanted.version}`);
      await writeFile(archive, await fetchFile(urlsFor({ os, arch }), checksums[machine]));
      await run('tar', ['-xzf', archive, '-C', folder]);
      rmSync(archive);
      liftProgram(folder, wanted.name);
      return 'downloaded';
    });
  };
}

/**
 * Fetches one file that is the program.
 * @param {Program & { path: string }} wanted
 * @param {string} checksum sha256 of the file
 * @param {string[]} urls
 * @returns {Way}
 */
export function downloadFile(wanted, checksum, urls) {
  return (task) =>
    intoCache(wanted, task, async (folder) => {
      task.doing(`downloading ${wanted.name} ${wanted.version}`);
      await writeFile(join(folder, wanted.path), await fetchFile(urls, checksum));
      return 'downloaded';
    });
}

/**
 * Builds a program from its makers' own sources by the compiler of the machine, which macOS has with its command line
 * tools.
 * @param {Program} wanted `name` is also what is made, in the folder `src`
 * @param {string} checksum sha256 of the archive
 * @param {string[]} urls
 * @returns {Way}
 */
export function makeFromSources(wanted, checksum, urls) {
  return async (task) => {
    const make = findProgram('make');
    if (make === undefined || !(await hasCompiler())) return undefined;
    return intoCache(wanted, task, async (folder) => {
      task.doing(`downloading the sources of ${wanted.name} ${wanted.version}`);
      const archive = join(folder, 'archive.tar.gz');
      await writeFile(archive, await fetchFile(urls, checksum));
      const sources = join(folder, 'sources');
      mkdirSync(sources);
      await run('tar', ['-xzf', archive, '-C', sources, '--strip-components=1']);
      task.doing(`building ${wanted.name} ${wanted.version} (a minute or two, once on this machine)`);
      const program = join(sources, 'src', wanted.name);
      // With the memory of the system: the makers' own allocator would have to be configured first.
      await run(make, ['-C', join(sources, 'src'), '-j2', 'MALLOC=libc', wanted.name]);
      renameSync(program, join(folder, wanted.name));
      rmSync(sources, { recursive: true });
      rmSync(archive);
      return 'built from its sources';
    });
  };
}

/** On macOS a program of this name is always there, and offers to install the tools where they are not. */
async function hasCompiler() {
  if (findProgram('cc') === undefined) return false;
  if (process.platform !== 'darwin') return true;
  return run('xcode-select', ['--print-path']).then(
    () => true,
    () => false,
  );
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
    const asRoot = await asRootOn(apt);
    if (asRoot === undefined) return undefined;
    await oneInstallAtATime(task, async () => {
      if (findProgram(programName) !== undefined) return;
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
    await oneInstallAtATime(task, async () => {
      task.doing(`installing ${formula} with Homebrew`);
      await run(program, ['install', '--quiet', formula], { name: `brew install ${formula}` });
    });
    const found = findProgram(programName);
    return found === undefined ? undefined : { program: found, from: 'Homebrew' };
  };
}

/** Archives differ in whether they have a top folder. @param {string} folder @param {string} programName */
function liftProgram(folder, programName) {
  const entries = readdirSync(folder, { recursive: true }).map(String);
  const inner = entries.find((entry) => basename(entry) === programName && entry !== programName);
  if (!entries.includes(programName) && inner !== undefined) {
    renameSync(join(folder, inner), join(folder, programName));
  }
}

/** How this account runs apt as root; undefined where it may not. @param {string} apt */
async function asRootOn(apt) {
  if (process.getuid?.() === 0) return [apt];
  const sudo = findProgram('sudo');
  if (sudo === undefined) return undefined;
  try {
    await run(sudo, ['-n', 'true']);
    return [sudo, '-n', apt];
  } catch {
    return undefined;
  }
}

/** Whether this account may install packages of the system. */
export async function mayInstall() {
  const apt = findProgram('apt-get');
  return apt !== undefined && (await asRootOn(apt)) !== undefined;
}

/** Two builds at once would each take twice as long, and the first one can be used earlier. */
const oneBuildAtATime = createQueue();

/**
 * On this machine, and not just in this process: apt locks its database for an installation, but where it is set up to
 * remove what it downloaded, as in images of containers, `update` does so while another launcher installs from it.
 * @template T
 * @param {Task} task
 * @param {() => Promise<T>} install
 */
const oneInstallAtATime = (task, install) =>
  withLock(join(cacheDirectory(), 'install.lock'), install, {
    onWait: (pid) => task.doing(`waiting for process ${pid}, which is installing packages`),
  });

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
