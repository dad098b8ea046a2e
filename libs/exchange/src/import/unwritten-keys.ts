import { hash, randomBytes } from 'node:crypto';
import { RecentKeys } from './recent-keys';

const HASH_BYTES = 16;
/** A key as 32 hexadecimal digits. */
export const hashKey = (key: string): string => hash('sha256', key).slice(0, 2 * HASH_BYTES);

const BITS = 22;
/** Bits of each key: with so many, a batch rarely takes one of its keys for one that is known. */
const PLACES = 4;
/** With more keys most look-ups would find nothing either way, and reading them takes longer than it saves. */
const KNOWN_KEYS_MAX = 200_000;

const SALT_BYTES = 8;

/**
 * Which keys of a job may belong to rows that were not written. Most keys of most files do not, so most need not be
 * looked up. It takes 512 kB, whatever the number of keys: a Bloom filter, whose places are parts of a hash.
 */
export class UnwrittenKeys {
  private readonly bits = new Uint8Array(1 << (BITS - 3));
  private count = 0;

  /** How many hashes to read to know all of them, and to see whether there are too many. */
  static readonly readMax = KNOWN_KEYS_MAX + 1;

  /**
   * @param hashes of keys in the database, 16 bytes each
   * @param recent where keys are before they are in the database
   * @param salt makes their hashes others than those of other imports
   */
  constructor(
    hashes: Buffer = Buffer.alloc(0),
    readonly recent?: RecentKeys,
    private readonly salt = '',
  ) {
    for (let at = 0; at < hashes.length; at += HASH_BYTES)
      this.add(hashes.toString('hex', at, at + HASH_BYTES));
  }

  /**
   * Those of a dry-run. Nobody knows their hashes before: whoever writes a file could choose keys whose hashes begin alike,
   * and all of them would want the same place in memory.
   */
  static ofDryRun(): UnwrittenKeys {
    return new UnwrittenKeys(undefined, new RecentKeys(), randomBytes(SALT_BYTES).toString('base64url'));
  }

  get isEmpty(): boolean {
    return this.count === 0 && (this.recent?.isEmpty ?? true);
  }

  /** The hash of a key here, as 32 hexadecimal digits. */
  hashOf(key: string): string {
    return hashKey(this.salt + key);
  }

  /** @param hash hexadecimal digits of a key that is in the database */
  add(hash: string): void {
    for (let index = 0; index < PLACES; index++) {
      const place = placeOf(hash, index);
      this.bits[place >> 3]! |= 1 << (place & 7);
    }
    this.count++;
  }

  /** From now on every key must be looked up. */
  forget(): void {
    this.count = Infinity;
  }

  /** False only if the key is not in the database. */
  mayHave(hash: string): boolean {
    if (this.count > KNOWN_KEYS_MAX) return true;
    for (let index = 0; index < PLACES; index++) {
      const place = placeOf(hash, index);
      if ((this.bits[place >> 3]! & (1 << (place & 7))) === 0) return false;
    }
    return true;
  }
}

const placeOf = (hash: string, index: number): number =>
  parseInt(hash.slice(index * 6, index * 6 + 6), 16) >> (24 - BITS);
