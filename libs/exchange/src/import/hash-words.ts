/** The number that eight hexadecimal digits of a hash are. Several times as fast as `parseInt` of a part, for each row. */
export function wordOf(hash: string, digit: number): number {
  let word = 0;
  for (let at = digit; at < digit + 8; at++) {
    const code = hash.charCodeAt(at);
    word = (word << 4) | (code < 58 ? code - 48 : (code & 0xdf) - 55);
  }
  return word >>> 0;
}
