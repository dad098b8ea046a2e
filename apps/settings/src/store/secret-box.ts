import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

export interface SecretBox {
  seal(plain: string): string;
  /** Opens what `seal` made with any of the keys. */
  open(sealed: string): string;
}

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts at rest (AES-256-GCM, NIST SP 800-38D). The first key seals; every key opens, so that keys can be rotated. */
export function secretBox(secrets: readonly string[]): SecretBox {
  const keys = secrets.map((secret) => createHash('sha256').update(secret).digest());
  return {
    seal(plain) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(ALGORITHM, keys[0]!, iv);
      const content = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), content]).toString('base64');
    },
    open(sealed) {
      const bytes = Buffer.from(sealed, 'base64');
      for (const key of keys) {
        const plain = tryOpen(bytes, key);
        if (plain !== undefined) return plain;
      }
      throw new Error('A secret cannot be opened with any of the configured keys.');
    },
  };
}

function tryOpen(bytes: Buffer, key: Buffer): string | undefined {
  const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, IV_BYTES));
  decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString(
      'utf8',
    );
  } catch {
    return undefined;
  }
}
