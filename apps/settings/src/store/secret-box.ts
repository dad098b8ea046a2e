import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

export interface SecretBox {
  seal(plain: string): string;
  /** Opens what `seal` made with any of the keys; undefined for all other texts. */
  open(sealed: string): string | undefined;
  /** Whether a text has the form of a sealed one, be it by a key that is not known here. */
  hasSealedForm(text: string): boolean;
}

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
const SEALED_BYTES_MIN = IV_BYTES + TAG_BYTES;

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
      const bytes = sealedBytes(sealed);
      if (!bytes) return undefined;
      for (const key of keys) {
        const plain = tryOpen(bytes, key);
        if (plain !== undefined) return plain;
      }
      return undefined;
    },
    hasSealedForm: (text) => sealedBytes(text) !== undefined,
  };
}

function sealedBytes(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length >= SEALED_BYTES_MIN && bytes.toString('base64') === text ? bytes : undefined;
}

function tryOpen(bytes: Buffer, key: Buffer): string | undefined {
  const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, IV_BYTES));
  decipher.setAuthTag(bytes.subarray(IV_BYTES, SEALED_BYTES_MIN));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(SEALED_BYTES_MIN)), decipher.final()]).toString(
      'utf8',
    );
  } catch {
    return undefined;
  }
}
