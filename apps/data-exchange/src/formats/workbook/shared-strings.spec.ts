import { SharedStrings } from './shared-strings';

/** A file that is a buffer. */
function aScratch() {
  let bytes = Buffer.alloc(0);
  return {
    size: () => bytes.length,
    write(piece: Buffer, position: number) {
      bytes = Buffer.concat([bytes.subarray(0, position), piece]);
    },
    read: (length: number, position: number) => bytes.subarray(position, position + length),
  };
}

describe('SharedStrings', () => {
  it('returns the stored texts unchanged, in any order', () => {
    const scratch = aScratch();
    const strings = new SharedStrings(scratch);
    const text = (index: number) => `${index} ${'é'.repeat((index * 7) % 3_000)}`;
    for (let index = 0; index < 8_000; index++) strings.add(text(index));

    expect(scratch.size()).toBeGreaterThan(1_000_000);
    for (const index of [0, 1, 5_000, 7_998, 7_999, 6_000, 5_001])
      expect(strings.get(index)).toBe(text(index));
  });

  it('stores nothing for empty texts, however many there are', () => {
    const scratch = aScratch();
    const strings = new SharedStrings(scratch);
    const text = (index: number) => (index % 100_000 === 7 ? `text ${index}` : '');
    for (let index = 0; index < 300_000; index++) strings.add(text(index));

    for (const index of [0, 7, 8, 65_535, 65_536, 100_007, 200_006, 200_007, 299_999])
      expect(strings.get(index)).toBe(text(index));
    expect(scratch.size()).toBe('text 7text 100007text 200007'.length);
  });

  it('reads little of the file for a text, wherever it is', () => {
    const scratch = aScratch();
    const strings = new SharedStrings(scratch);
    for (let index = 0; index < 30_000; index++) strings.add(`text ${index}`);
    const read = jest.spyOn(scratch, 'read');
    for (const index of [29_999, 3, 15_000]) strings.get(index);

    expect(Math.max(...read.mock.calls.map(([length]) => length))).toBeLessThanOrEqual(4_096);
  });

  it.each([-1, 2, 0.5, Number.NaN])('refuses the index %d of two texts', (index) => {
    const strings = new SharedStrings(aScratch());
    strings.add('a');
    strings.add('b');

    expect(() => strings.get(index)).toThrow('not there');
  });
});
