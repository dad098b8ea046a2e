import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
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

function read(): Stored {
  try {
    return JSON.parse(readFileSync(file(), 'utf8')) as Stored;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
}

/** The credential for a platform; undefined where nobody signed in. */
export const findCredential = (url: string): StoredCredential | undefined => read()[url];

/** Stores a credential for a platform, readable by its owner only; undefined removes it. */
export function storeCredential(url: string, credential: StoredCredential | undefined): void {
  const { [url]: _former, ...others } = read();
  mkdirSync(dirname(file()), { recursive: true, mode: 0o700 });
  writeFileSync(file(), JSON.stringify({ ...others, ...(credential ? { [url]: credential } : {}) }), {
    mode: 0o600,
  });
  // The mode above is only for a new file.
  chmodSync(file(), 0o600);
}
