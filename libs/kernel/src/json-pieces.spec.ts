import fc from 'fast-check';
import { jsonPieces } from './json-pieces';

describe('the pieces of the JSON of a value', () => {
  it.each([
    [null],
    ['text "quoted" \u2028 \ud800'],
    [[]],
    [{}],
    [{ a: {}, b: [], c: [[], {}] }],
    [{ missing: undefined, kept: 1, call: () => 1, at: new Date(0), none: NaN }],
    [[undefined, () => 1, 1, null]],
    [Object.assign(Object.create(null), { constructor: 'a', 'a "b"': { deep: [1, { x: true }] } })],
    [{ toJSON: () => 'itself' }],
    [{ toJSON: 'a text', other: ['texts'] }],
    [{ list: Array.from({ length: 50 }, (_, at) => ({ at, text: `number ${at}` })) }],
  ])('are together what JSON.stringify writes: %j', (value) => {
    for (const length of [1, 20, 65_536])
      expect([...jsonPieces(value, length)].join('')).toBe(JSON.stringify(value));
  });

  it('are together what JSON.stringify writes, of whatever', () => {
    const value = fc.object({
      maxDepth: 4,
      withDate: true,
      withBoxedValues: true,
      withNullPrototype: true,
      withSparseArray: true,
      withUnicodeString: true,
      values: [
        fc.string({ unit: 'binary' }),
        fc.double(),
        fc.constantFrom(null, undefined, () => 1, Symbol('a')),
      ],
    });
    fc.assert(
      fc.property(value, fc.integer({ min: 1, max: 50 }), (made, length) => {
        expect([...jsonPieces(made, length)].join('')).toBe(JSON.stringify(made));
      }),
    );
  });

  it('are about as long as asked for, however long a text is', () => {
    const value = { texts: Array.from({ length: 1_000 }, () => 'x'.repeat(90)), long: 'y'.repeat(50_000) };
    const lengths = [...jsonPieces(value, 1_000)].map((piece) => piece.length);
    expect(Math.max(...lengths)).toBeLessThan(1_100);
    expect(lengths.length).toBeGreaterThan(135);
  });

  it('are at most six times as long where each character is written as an escape', () => {
    const value = ['\u0000'.repeat(50_000), '\ud83d'.repeat(50_000), '\ude00'.repeat(50_000)];
    const pieces = [...jsonPieces(value, 1_000)];
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(6_100);
    expect(pieces.join('')).toBe(JSON.stringify(value));
  });

  it('do not part the halves of a character', () => {
    const texts = [
      '\u{1f600}'.repeat(9),
      `x${'\u{1f600}'.repeat(9)}`,
      '\ud83d'.repeat(9) + '\ude00'.repeat(2),
    ];
    for (const value of [texts[0], texts])
      for (const length of [1, 2, 3, 4])
        expect([...jsonPieces(value, length)].join('')).toBe(JSON.stringify(value));
  });

  it('are made of what has a text under the name of the function that writes JSON', () => {
    const texts = { toJSON: 'a text', others: Array.from({ length: 1_000 }, () => 'x'.repeat(90)) };
    expect([...jsonPieces({ texts }, 1_000)].length).toBeGreaterThan(90);
  });
});
