import { wordOf } from './hash-words';

/** Of a place: two words of a hash and the number of a row, which is 0 where the place is free. */
const WORDS = 3;
const ROW = 2;
const PLACE_BITS_MIN = 10;
/** How many keys are stored by one statement, so that no step of the event loop takes long. */
const KEYS_OF_STATEMENT = 4_096;
/** The digits of a hash that are kept; the others are 0. */
const HASH_DIGITS = 16;

/**
 * The newest keys of a dry-run, which nobody continues elsewhere: they need not be in the database before they are many,
 * and many at once are stored there in the order of its index, which takes less than a few for each batch. It is a hash
 * table whose places are in the order of the hashes, of at most 25 MB.
 */
export class RecentKeys {
  /** How many are kept in memory, of one dry-run. */
  static maximum = 1_500_000;
  /** How many bytes those of all dry-runs of a process may take. Whose keys take more stores them. */
  static bytesMaximum = 100_000_000;
  private static bytesOfAll = 0;

  private placeBits = PLACE_BITS_MIN;
  private words = new Uint32Array(0);
  private count = 0;
  private isClosed = false;

  constructor() {
    this.reset(PLACE_BITS_MIN);
  }

  get isEmpty(): boolean {
    return this.count === 0;
  }

  /**
   * Of several rows with one key the first one counts.
   * @param hash 32 hexadecimal digits, of which the last 16 are 0
   * @param rowNumber at least 1
   */
  add(hash: string, rowNumber: number): void {
    if (this.isClosed) return;
    if (4 * this.count >= 3 << this.placeBits) this.grow();
    const first = wordOf(hash, 0);
    const second = wordOf(hash, 8);
    const at = this.find(first, second);
    const known = this.words[at + ROW]!;
    if (known === 0) {
      this.words[at] = first;
      this.words[at + 1] = second;
      this.count++;
    }
    if (known === 0 || rowNumber < known) this.words[at + ROW] = rowNumber;
  }

  rowOf(hash: string): number | undefined {
    if (this.isClosed) return undefined;
    return this.words[this.find(wordOf(hash, 0), wordOf(hash, 8)) + ROW] || undefined;
  }

  /** All keys in parts, in about the order of their hashes; they are forgotten. Nothing where they can still be kept. */
  *takeIfMany(): Generator<[hash: string, rowNumber: number][]> {
    if (this.isClosed) return;
    if (this.count < RecentKeys.maximum && RecentKeys.bytesOfAll <= RecentKeys.bytesMaximum) return;
    const { words } = this;
    this.reset(PLACE_BITS_MIN);
    let part: [string, number][] = [];
    for (let at = 0; at < words.length; at += WORDS) {
      if (words[at + ROW] !== 0) part.push([hashOf(words, at), words[at + ROW]!]);
      if (part.length < KEYS_OF_STATEMENT) continue;
      yield part;
      part = [];
    }
    if (part.length > 0) yield part;
  }

  /** Forgets all keys for good, and gives their memory back to other dry-runs. */
  close(): void {
    this.isClosed = true;
    this.use(new Uint32Array(0));
    this.count = 0;
  }

  /** Where a key is, or may be put. */
  private find(first: number, second: number): number {
    const { words } = this;
    let at = this.firstPlace(first);
    while (words[at + ROW] !== 0 && (words[at] !== first || words[at + 1] !== second))
      at = this.nextPlace(at);
    return at;
  }

  private grow(): void {
    const { words, count } = this;
    this.reset(this.placeBits + 1);
    for (let from = 0; from < words.length; from += WORDS) {
      if (words[from + ROW] === 0) continue;
      let at = this.firstPlace(words[from]!);
      while (this.words[at + ROW] !== 0) at = this.nextPlace(at);
      for (let word = 0; word < WORDS; word++) this.words[at + word] = words[from + word]!;
    }
    this.count = count;
  }

  private firstPlace(word: number): number {
    return (word >>> (32 - this.placeBits)) * WORDS;
  }

  private nextPlace(at: number): number {
    return at + WORDS === this.words.length ? 0 : at + WORDS;
  }

  private reset(placeBits: number): void {
    this.placeBits = placeBits;
    this.use(new Uint32Array(WORDS << placeBits));
    this.count = 0;
  }

  private use(words: Uint32Array<ArrayBuffer>): void {
    RecentKeys.bytesOfAll += words.byteLength - this.words.byteLength;
    this.words = words;
  }
}

const bytes = Buffer.alloc(HASH_DIGITS / 2);
const hashOf = (words: Uint32Array, at: number): string => {
  bytes.writeUInt32BE(words[at]!, 0);
  bytes.writeUInt32BE(words[at + 1]!, 4);
  return bytes.toString('hex').padEnd(2 * HASH_DIGITS, '0');
};
