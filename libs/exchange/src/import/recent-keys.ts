import { wordOf } from './hash-words';

/** Of a place: four words of a hash and the number of a row, which is 0 where the place is free. */
const WORDS = 5;
const PLACE_BITS_MIN = 10;
/** How many keys are stored by one statement, so that no step of the event loop takes long. */
const KEYS_OF_STATEMENT = 4_096;

/**
 * The newest keys of a dry-run, which nobody continues elsewhere: they need not be in the database before they are many,
 * and many at once are stored there in the order of its index, which takes less than a few for each batch. It is a hash
 * table whose places are in the order of the hashes, of at most 10 MB.
 */
export class RecentKeys {
  /** How many are kept in memory. */
  static maximum = 262_144;

  private placeBits = PLACE_BITS_MIN;
  private words = new Uint32Array(WORDS << PLACE_BITS_MIN);
  private count = 0;

  get isEmpty(): boolean {
    return this.count === 0;
  }

  /**
   * Of several rows with one key the first one counts.
   * @param hash 32 hexadecimal digits
   * @param rowNumber at least 1
   */
  add(hash: string, rowNumber: number): void {
    if (this.count >= 1 << (this.placeBits - 1)) this.grow();
    const key = wordsOf(hash);
    const at = this.find(key);
    const known = this.words[at + 4]!;
    if (known === 0) {
      this.words.set(key, at);
      this.count++;
    }
    if (known === 0 || rowNumber < known) this.words[at + 4] = rowNumber;
  }

  rowOf(hash: string): number | undefined {
    return this.words[this.find(wordsOf(hash)) + 4] || undefined;
  }

  /** All keys in parts, in about the order of their hashes; they are forgotten. Nothing where they can still be kept. */
  *takeIfMany(): Generator<[hash: string, rowNumber: number][]> {
    if (this.count < RecentKeys.maximum) return;
    const { words } = this;
    this.reset(PLACE_BITS_MIN);
    let part: [string, number][] = [];
    for (let at = 0; at < words.length; at += WORDS) {
      if (words[at + 4] !== 0) part.push([hashOf(words, at), words[at + 4]!]);
      if (part.length < KEYS_OF_STATEMENT) continue;
      yield part;
      part = [];
    }
    if (part.length > 0) yield part;
  }

  /** Where a key is, or may be put. */
  private find(key: readonly number[]): number {
    let at = this.firstPlace(key[0]!);
    while (this.words[at + 4] !== 0 && !this.isAt(at, key)) at = this.nextPlace(at);
    return at;
  }

  private isAt(at: number, key: readonly number[]): boolean {
    for (let word = 0; word < 4; word++) if (this.words[at + word] !== key[word]) return false;
    return true;
  }

  private grow(): void {
    const { words, count } = this;
    this.reset(this.placeBits + 1);
    for (let from = 0; from < words.length; from += WORDS) {
      if (words[from + 4] === 0) continue;
      let at = this.firstPlace(words[from]!);
      while (this.words[at + 4] !== 0) at = this.nextPlace(at);
      for (let word = 0; word < WORDS; word++) this.words[at + word] = words[from + word]!;
    }
    this.count = count;
  }

  private firstPlace(word: number): number {
    return (word >>> (32 - this.placeBits)) * WORDS;
  }

  private nextPlace(at: number): number {
    return (at + WORDS) % this.words.length;
  }

  private reset(placeBits: number): void {
    this.placeBits = placeBits;
    this.words = new Uint32Array(WORDS << placeBits);
    this.count = 0;
  }
}

const wordsOf = (hash: string): number[] => [
  wordOf(hash, 0),
  wordOf(hash, 8),
  wordOf(hash, 16),
  wordOf(hash, 24),
];

const bytes = Buffer.alloc(16);
const hashOf = (words: Uint32Array, at: number): string => {
  for (let word = 0; word < 4; word++) bytes.writeUInt32BE(words[at + word]!, word * 4);
  return bytes.toString('hex');
};
