import { hash, randomBytes } from 'node:crypto';
import { wordOf } from './hash-words';
import { RecentKeys } from './recent-keys';

const HASH_BYTES = 16;
/** A key as 32 hexadecimal digits. */
export const hashKey = (key: string): string => hash('sha256', key).slice(0, 2 * HASH_BYTES);
/** What is enough where the hashes of a dry-run are its own: of ten million keys two are taken for one in 3 of 1,000,000 dry-runs. */
const hashShortly = (key: string): string =>
  hash('sha256', key).slice(0, HASH_BYTES) + '0'.repeat(HASH_BYTES);

const BITS = 22;
/** With more keys most look-ups in one filter would find something. */
const FILTER_KEYS_MAX = 200_000;
/** So that no job takes the memory of the others; with more keys every one is looked up. */
const FILTERS_MAX = 16;

const SALT_BYTES = 8;

/**
 * Which keys of a job may belong to rows that were not written. Most keys of most files do not, so most need not be
 * looked up. It takes 512 kB for each 200,000 keys, 8 MB at most: Bloom filters with four bits of each key, of which a
 * full one takes 0.1 % of other keys for known ones: in a batch of 4,000 about 4 are looked up in vain, with all filters
 * full about 60.
 */
export class UnwrittenKeys {
  private filters: Uint8Array[] = [];
  private count = 0;

  /** How many hashes to read to know all of them, and to see whether there are more than are worth reading. */
  static readonly readMax = FILTER_KEYS_MAX + 1;

  /**
   * @param hashes of keys in the database, 16 bytes each
   * @param recent where keys of a dry-run are before they are in the database
   * @param salt makes their hashes others than those of other dry-runs
   */
  constructor(
    hashes: Buffer = Buffer.alloc(0),
    readonly recent?: RecentKeys,
    private readonly salt = '',
  ) {
    if (hashes.length >= UnwrittenKeys.readMax * HASH_BYTES) this.forget();
    else
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

  /** The hash of a key here, as 32 hexadecimal digits; of a dry-run the last 16 are 0. */
  hashOf(key: string): string {
    return this.recent ? hashShortly(this.salt + key) : hashKey(key);
  }

  /** @param hash hexadecimal digits of a key that is in the database */
  add(hash: string): void {
    if (this.count >= FILTER_KEYS_MAX * FILTERS_MAX) return this.forget();
    if (this.count % FILTER_KEYS_MAX === 0) this.filters.push(new Uint8Array(1 << (BITS - 3)));
    const bits = this.filters.at(-1)!;
    for (const place of placesOf(hash)) bits[place >> 3]! |= 1 << (place & 7);
    this.count++;
  }

  /** From now on every key must be looked up. */
  forget(): void {
    this.count = Infinity;
    this.filters = [];
  }

  /** False only if the key is not in the database. */
  mayHave(hash: string): boolean {
    if (this.count === Infinity) return true;
    if (this.filters.length === 0) return false;
    const places = placesOf(hash);
    return this.filters.some((bits) =>
      places.every((place) => (bits[place >> 3]! & (1 << (place & 7))) !== 0),
    );
  }
}

/** As many places as if there were four hashes (A. Kirsch, M. Mitzenmacher, "Less hashing, same performance", 2006). */
function placesOf(hash: string): number[] {
  const first = wordOf(hash, 0);
  const second = wordOf(hash, 8);
  return [0, 1, 2, 3].map((at) => (first + at * second) >>> (32 - BITS));
}
