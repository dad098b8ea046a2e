import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

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
  mkdirSync(folder(), { recursive: true, mode: 0o700 });
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
