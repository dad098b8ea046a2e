import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheDirectory } from '../paths.mjs';
import { LauncherError, run } from '../run.mjs';
import { intoCache } from './cache.mjs';
import { findProgram } from './find-program.mjs';

/** The place in the cache of a program of this Debian. @param {string} name */
export const unpackedProgram = (name) => ({ name, version: `debian-${debianVersion()}` });

/**
 * Debian's package for an account that may install nothing: apt fetches it with what it needs and the machine lacks,
 * verifies it by Debian's signatures, and it is unpacked into the cache, where a script starts the program among its
 * own libraries and fonts.
 * @param {string} programName
 * @param {string} path of the program in its package
 * @param {string[]} packages
 * @returns {import('./strategies.mjs').Way}
 */
export function unpackedPackage(programName, path, ...packages) {
  return async (task) => {
    const [apt, dpkg] = [findProgram('apt-get'), findProgram('dpkg-deb')];
    if (apt === undefined || dpkg === undefined) return undefined;
    return intoCache(unpackedProgram(programName), task, async (folder) => {
      task.doing(`fetching Debian's ${packages[0]} into the cache (half a minute at most)`);
      const archives = join(folder, 'archives');
      mkdirSync(join(archives, 'partial'), { recursive: true });
      const options = await refreshPackageLists(apt);
      // What the machine has installed but cannot run is fetched as well.
      const how = ['--reinstall', '--yes', '--no-install-recommends', '--download-only'];
      const install = ['install', ...how, ...packages];
      await runApt(apt, [...options, '-o', `Dir::Cache::archives=${archives}`, ...install]);
      const fetched = readdirSync(archives).filter((name) => name.endsWith('.deb'));
      const missing = packages.find((name) => !fetched.some((file) => file.startsWith(`${name}_`)));
      if (missing !== undefined) {
        // apt does not fetch what an interrupted installation has left half-way.
        throw new LauncherError(`Debian's ${missing} was not fetched; \`dpkg --audit\` tells why`);
      }
      for (const file of fetched) {
        await run(dpkg, ['--extract', join(archives, file), folder]);
      }
      rmSync(archives, { recursive: true });
      if (!existsSync(join(folder, path))) throw new LauncherError(`Debian's ${packages[0]} has no ${path}`);
      writeFileSync(join(folder, programName), startScript(folder, path), { mode: 0o755 });
      return 'unpacked';
    });
  };
}

/** @param {string} folder @param {string} path */
function startScript(folder, path) {
  const files = readdirSync(folder, { recursive: true }).map(String);
  const libraries = new Set(files.filter((file) => /\.so(\.\d+)*$/.test(file)).map((file) => dirname(file)));
  const own = [...libraries].filter((one) => /^(usr\/)?lib(\/[^/]+-linux-[^/]+)?$/.test(one));
  const lines = [
    '#!/bin/sh',
    'here=$(cd -- "$(dirname -- "$0")" && pwd)',
    `export LD_LIBRARY_PATH="${own.map((one) => `$here/${one}`).join(':')}"`,
    'export XDG_DATA_HOME="$here/usr/share"',
    ...(existsSync(join(folder, 'etc/fonts/fonts.conf')) ? ['export FONTCONFIG_PATH="$here/etc/fonts"'] : []),
    `exec "$here/${path}" "$@"`,
  ];
  return `${lines.join('\n')}\n`;
}

/** @type {Promise<string[]> | undefined} */
let packageLists;

/** Lists of our own, since those of the machine may be old or absent: the options that make apt use them. @param {string} apt */
function refreshPackageLists(apt) {
  packageLists ??= (async () => {
    const state = join(cacheDirectory(), 'apt');
    mkdirSync(join(state, 'lists', 'partial'), { recursive: true });
    const settings = {
      'Dir::State::lists': join(state, 'lists'),
      'Dir::Cache': state,
      // It changes nothing of the machine, so it needs none of its locks.
      'Debug::NoLocking': '1',
    };
    const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
    await runApt(apt, [...options, 'update']);
    return options;
  })();
  return packageLists;
}

/** @param {string} apt @param {string[]} args */
const runApt = (apt, args) => run(apt, ['-q', ...args], { name: 'apt-get' });

function debianVersion() {
  const release = existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : '';
  return /^VERSION_ID="?([\w.]+)/m.exec(release)?.[1] ?? 'unknown';
}
