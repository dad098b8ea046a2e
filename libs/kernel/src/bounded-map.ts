/** A map of at most so many entries: another one takes the place of what was set longest ago. */
export class BoundedMap<Key, Value> extends Map<Key, Value> {
  /**
   * Goes on where it was, and nothing that is still there lies behind it. An iterator made for each removal would pass all
   * that was removed before, which is thirty times as much work in a map of ten thousand.
   */
  private readonly oldest = this.keys();

  /** @param sizeMax at least 1 */
  constructor(private readonly sizeMax: number) {
    super();
  }

  override set(key: Key, value: Value): this {
    this.delete(key);
    if (this.size >= this.sizeMax) this.delete(this.oldest.next().value!);
    return super.set(key, value);
  }
}
