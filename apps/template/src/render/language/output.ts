/** The output of one template or macro, as it grows. */
export interface Output {
  /** Text written by the template's author. */
  write(text: string): void;
  /** A value of unknown origin. `json` is how it is written in a script. */
  writeValue(text: string, value: unknown, json: () => string): void;
  toString(): string;
}

/** Output that is no markup, where nothing is escaped. */
export class PlainOutput implements Output {
  private readonly parts: string[] = [];
  write(text: string): void {
    this.parts.push(text);
  }
  writeValue(text: string): void {
    this.parts.push(text);
  }
  toString(): string {
    return this.parts.join('');
  }
}
