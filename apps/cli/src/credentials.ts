import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/** A credential that a person signed in for, of one platform. */
export interface StoredCredential {
  accessToken: string;
  refreshToken?: string;
  /** In milliseconds since 1970. */
  expiresAt: number;
  issuer?: string;
  clientId?: string;
}

type Stored = Record<string, StoredCredential>;

const file = (): string =>
  join(process.env['XDG_CONFIG_HOME'] ?? join(homedir(), '.config'), 'plinth', 'credentials.json');

/** What is stored; nothing where the file is damaged, so that signing in mends it. */
function read(): Stored {
  try {
    const stored: unknown = JSON.parse(readFileSync(file(), 'utf8'));
    return typeof stored === 'object' && stored !== null ? (stored as Stored) : {};
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return {};
    throw error;
  }
}

/** The credential for a platform; undefined where nobody signed in. */
export const findCredential = (url: string): StoredCredential | undefined => read()[url];

/** Stores a credential for a platform, readable by its owner only; undefined removes it. */
export function storeCredential(url: string, credential: StoredCredential | undefined): void {
  const { [url]: _former, ...others } = read();
  // Of a link what it leads to.
  const path = existsSync(file()) ? realpathSync(file()) : file();
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // Whenever the program ends, there is the former file or the new one.
  const draft = `${path}.${process.pid}`;
  try {
    // The mode is only for a new file.
    rmSync(draft, { force: true });
    const stored = { ...others, ...(credential ? { [url]: credential } : {}) };
    writeFileSync(draft, JSON.stringify(stored), { mode: 0o600, flag: 'wx' });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
