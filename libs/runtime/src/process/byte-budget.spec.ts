import { heldBytes } from './byte-budget';

describe('the bytes of a text in memory', () => {
  it.each([
    ['', 0],
    ['abc', 3],
    ['\0é\xff', 3],
    ['Ā', 2],
    [`Ā${'"'.repeat(9)}`, 20],
    ['😀', 4],
  ])('of %j are %d', (text, bytes) => {
    expect(heldBytes(text)).toBe(bytes);
  });
});
