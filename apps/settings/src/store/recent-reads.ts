import { forMany } from '@plinth/runtime/process/current-work';

/** The longest time for which what was read is stale when the message of a change is lost. */
const FRESH_MILLISECONDS = 5_000;

interface Entry<Value> {
  at: number;
  read: Promise<Value>;
  /** None until it is read. */
  characters: number;
}

/**
 * Keeps in the process what was read for some seconds, for all who ask meanwhile. What is too old to be used again is
 * forgotten, and what was read longest ago where there is too much.
 */
export class RecentReads<Value> {
  /** The oldest first. */
  private readonly entries = new Map<string, Entry<Value>>();
  private characters = 0;

  constructor(
    private readonly charactersOf: (value: Value) => number,
    private readonly charactersMax: number,
  ) {}

  /** How many are in memory. */
  get size(): number {
    return this.entries.size;
  }

  of(key: string, read: () => Promise<Value>): Promise<Value> {
    const now = performance.now();
    this.forgetWhile(({ at }) => now - at >= FRESH_MILLISECONDS);
    const known = this.entries.get(key);
    if (known) return known.read;
    const entry: Entry<Value> = { at: now, characters: 0, read: forMany(read) };
    this.entries.set(key, entry);
    entry.read.then(
      (value) => this.count(key, entry, value),
      () => {
        if (this.entries.get(key) === entry) this.forget(key);
      },
    );
    return entry.read;
  }

  forget(key: string): void {
    this.characters -= this.entries.get(key)?.characters ?? 0;
    this.entries.delete(key);
  }

  forgetAll(): void {
    this.entries.clear();
    this.characters = 0;
  }

  private count(key: string, entry: Entry<Value>, value: Value): void {
    if (this.entries.get(key) !== entry) return;
    entry.characters = key.length + this.charactersOf(value);
    this.characters += entry.characters;
    // What is too much alone takes no place from others.
    if (entry.characters > this.charactersMax) this.forget(key);
    this.forgetWhile(() => this.characters > this.charactersMax);
  }

  private forgetWhile(isTooMuch: (entry: Entry<Value>) => boolean): void {
    for (const [key, entry] of this.entries) {
      if (!isTooMuch(entry)) return;
      this.forget(key);
    }
  }
}
