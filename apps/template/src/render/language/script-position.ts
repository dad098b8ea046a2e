type Inside = 'code' | "'" | '"' | '`' | 'line-comment' | 'block-comment' | 'pattern' | 'pattern-class';

const wordsBeforePattern = new Set([
  'return',
  'typeof',
  'case',
  'do',
  'else',
  'in',
  'of',
  'instanceof',
  'new',
  'void',
  'delete',
  'throw',
  'await',
  'yield',
]);

/** Longer than every word before a regular expression. */
const WORD_MAX = 16;

/** Where the next character of a script stands: in its code, or in a string, comment or regular expression. */
export class ScriptPosition {
  private inside: Inside = 'code';
  /** The last word or sign of the code, which tells a division from a regular expression. */
  private last = '';
  /** Characters of the next text that a backslash before it has escaped. */
  private passed = 0;
  /** Open braces inside of each `${` that is open. */
  private readonly braces: number[] = [];

  get isInCode(): boolean {
    return this.inside === 'code';
  }

  /** Moves past text of the script. */
  follow(script: string): void {
    let index = this.passed;
    while (index < script.length) index = this.step(script, index);
    this.passed = index - script.length;
  }

  private step(script: string, index: number): number {
    const character = script[index]!;
    switch (this.inside) {
      case 'code':
        return this.inCode(script, index);
      case "'":
      case '"':
        return this.until(/[\n\r]/.test(character) || character === this.inside, character, index);
      case '`':
        if (script.startsWith('${', index)) {
          this.braces.push(0);
          this.inside = 'code';
          this.last = '';
          return index + 2;
        }
        return this.until(character === '`', character, index);
      case 'line-comment':
        if (/[\n\r\u2028\u2029]/.test(character)) this.inside = 'code';
        return index + 1;
      case 'block-comment':
        if (!script.startsWith('*/', index)) return index + 1;
        this.inside = 'code';
        return index + 2;
      case 'pattern':
        if (character === '[') this.inside = 'pattern-class';
        return this.until(/[\n\r/]/.test(character), character, index);
      case 'pattern-class':
        if (character === ']') this.inside = 'pattern';
        return this.until(/[\n\r]/.test(character), character, index);
    }
  }

  /** Past one character of what `isEnd` ends, or past two where the first one is a backslash. */
  private until(isEnd: boolean, character: string, index: number): number {
    if (isEnd) {
      this.inside = 'code';
      this.last = ')';
    }
    return index + (character === '\\' ? 2 : 1);
  }

  private inCode(script: string, index: number): number {
    const character = script[index]!;
    if (character === "'" || character === '"' || character === '`') this.inside = character;
    else if (script.startsWith('//', index) || script.startsWith('<!--', index)) this.inside = 'line-comment';
    else if (script.startsWith('/*', index)) this.inside = 'block-comment';
    else if (character === '/' && this.startsPattern()) this.inside = 'pattern';
    else this.afterCode(character);
    return index + (this.inside === 'block-comment' ? 2 : 1);
  }

  private startsPattern(): boolean {
    const last = this.last.trimEnd();
    return last === '' || wordsBeforePattern.has(last) || /^[(,=:[!&|?{};+\-*/%~^<>]$/.test(last);
  }

  private afterCode(character: string): void {
    if (/\s/.test(character)) {
      // A word ends here, and is still the last one.
      if (/[\w$]$/.test(this.last)) this.last = `${this.last} `;
      return;
    }
    if (/[\w$]/.test(character)) {
      this.last = /[\w$]$/.test(this.last) ? (this.last + character).slice(-WORD_MAX) : character;
      return;
    }
    this.last = character;
    if (this.braces.length > 0) this.countBrace(character);
  }

  private countBrace(character: string): void {
    const open = this.braces.length - 1;
    if (character === '{') this.braces[open]!++;
    if (character !== '}') return;
    if (this.braces[open]! > 0) {
      this.braces[open]!--;
      return;
    }
    this.braces.pop();
    this.inside = '`';
  }
}
