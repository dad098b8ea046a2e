import { chownSync, existsSync, readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** @typedef {{ uid: number, gid: number }} User */

/**
 * The user that runs PostgreSQL when the launcher is root, which PostgreSQL refuses: the owner of the data that is
 * already there, else `postgres`, else `nobody`. Undefined when the launcher is an ordinary user.
 * @param {string} directory
 * @returns {User | undefined}
 */
export function unprivilegedUser(directory) {
  if (process.getuid?.() !== 0) return undefined;
  if (existsSync(directory)) {
    const { uid, gid } = statSync(directory);
    if (uid !== 0) return { uid, gid };
  }
  return userNamed('postgres') ?? userNamed('nobody') ?? { uid: 65_534, gid: 65_534 };
}

/**
 * Whether the user can get at everything below the folder: each folder above it lets others through.
 * @param {string} folder
 */
export function isReachableByOthers(folder) {
  for (let at = folder; ; at = dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return false;
    if (at === dirname(at)) return true;
  }
}

/** @param {string} file @param {User | undefined} user */
export function giveTo(file, user) {
  if (user !== undefined) chownSync(file, user.uid, user.gid);
}

/** @param {string} name @returns {User | undefined} */
function userNamed(name) {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(':') ?? [];
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
}
