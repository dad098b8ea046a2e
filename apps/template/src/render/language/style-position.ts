import { hasSafeScheme } from './address';

/** Longer than everything before a scheme. */
const TAIL_MAX = 256;

/** The end of a style sheet that is written, as far as it tells whether an address stands there. */
export class StylePosition {
  private tail = '';

  /** Moves past text of the style sheet. */
  follow(style: string): void {
    const plain = style
      .replace(/\\([\da-f]{1,6})\s?/gi, (_, code: string) => characterOf(Number.parseInt(code, 16)))
      .replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ');
    this.tail = (this.tail + plain).slice(-TAIL_MAX);
  }

  /** Whether `text` may be written here: it does not give an address a scheme that could run code. */
  admits(text: string): boolean {
    const [, address] = /(?:url\(|@import)\s*["']?\s*([^"')]*)$/i.exec(this.tail) ?? [];
    return address === undefined || hasSafeScheme(address.replaceAll(' ', '') + text, true);
  }
}

const characterOf = (code: number): string =>
  code > 0 && code <= 0x10_ffff ? String.fromCodePoint(code) : '\ufffd';
