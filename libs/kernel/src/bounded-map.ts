/** Each look for the oldest entry passes all that were removed before it, so that many are removed at once. */
const REMOVED_SHARE = 1 / 16;

/**
 * A map of at most so many entries: where another one would be too many, a sixteenth of all is removed, of what was set
 * longest ago.
 */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  /** @param sizeMax at least 1 */
  constructor(private readonly sizeMax: number) {
    super();
  }

  override set(key: Key, value: Value): this {
    this.delete(key);
    if (this.size >= this.sizeMax) this.removeOldest(Math.ceil(this.sizeMax * REMOVED_SHARE));
    return super.set(key, value);
  }

  private removeOldest(count: number): void {
    let left = count;
    for (const key of this.keys()) {
      if (left-- === 0) return;
      this.delete(key);
    }
  }
}
