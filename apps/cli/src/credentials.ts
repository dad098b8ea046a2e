import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** A credential that a person signed in for, of one platform. */
export interface StoredCredential {
  accessToken: string;
  refreshToken?: string;
  /** In milliseconds since 1970. */
  expiresAt: number;
  issuer?: string;
  clientId?: string;
}

const folder = (): string =>
  join(process.env['XDG_CONFIG_HOME'] ?? join(homedir(), '.config'), 'plinth', 'credentials');

const createFolder = (): void => void mkdirSync(folder(), { recursive: true, mode: 0o700 });

/** Each platform has a file of its own, so that programs which store credentials of several at the same time lose none. */
const fileOf = (url: string): string => join(folder(), `${encodeURIComponent(url)}.json`);

/** The credential for a platform; undefined where nobody signed in, or where it is damaged, so that signing in mends it. */
export function findCredential(url: string): StoredCredential | undefined {
  try {
    const stored: unknown = JSON.parse(readFileSync(fileOf(url), 'utf8'));
    return typeof stored === 'object' && stored !== null ? (stored as StoredCredential) : undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Stores a credential for a platform, readable by its owner only; undefined removes it. */
export function storeCredential(url: string, credential: StoredCredential | undefined): void {
  const path = fileOf(url);
  if (!credential) return rmSync(path, { force: true });
  createFolder();
  // Whenever the program ends, there is the former file or the new one.
  const draft = `${path}.${process.pid}`;
  try {
    // The mode is only for a new file.
    rmSync(draft, { force: true });
    writeFileSync(draft, JSON.stringify(credential), { mode: 0o600, flag: 'wx' });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** A program that changes a credential for longer has ended in the middle of it. */
const CHANGE_MILLISECONDS_MAX = 30_000;
const LOOK_AGAIN_MILLISECONDS = 50;

/** Changes the credential for a platform while no other program does, which may have changed it just before. */
export async function changeCredential<Result>(
  url: string,
  change: () => Promise<Result> | Result,
): Promise<Result> {
  const lock = `${fileOf(url)}.lock`;
  createFolder();
  while (!take(lock)) await pause(LOOK_AGAIN_MILLISECONDS);
  try {
    return await change();
  } finally {
    rmSync(lock, { force: true });
  }
}

/** Creates the file, unless it is there; one that was left behind is removed for the next attempt. */
function take(lock: string): boolean {
  try {
    writeFileSync(lock, '', { mode: 0o600, flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const takenAt = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    if (takenAt + CHANGE_MILLISECONDS_MAX < Date.now()) rmSync(lock, { force: true });
    return false;
  }
}
