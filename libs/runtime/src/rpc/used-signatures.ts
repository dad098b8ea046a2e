/** Remembers signatures for at least as long as they are valid, in two generations that take turns. */
export class UsedSignatures {
  private current = new Set<number>();
  private previous = new Set<number>();
  private begunAt = 0;

  constructor(private readonly validForSeconds: number) {}

  /** Remembers a signature; false where it was there already. */
  add(signature: Buffer, now: Date): boolean {
    this.forgetBefore(now.getTime() / 1000);
    // Six bytes of a signature tell apart as many as can ever be valid at once.
    const key = signature.readUIntBE(0, 6);
    if (this.current.has(key) || this.previous.has(key)) return false;
    this.current.add(key);
    return true;
  }

  private forgetBefore(seconds: number): void {
    const age = seconds - this.begunAt;
    if (age >= 0 && age <= this.validForSeconds) return;
    this.previous = age >= 0 && age <= 2 * this.validForSeconds ? this.current : new Set();
    this.current = new Set();
    this.begunAt = seconds;
  }
}
