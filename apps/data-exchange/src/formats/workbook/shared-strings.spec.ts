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

  it.each([-1, 2, 0.5, Number.NaN])('refuses the index %d of two texts', (index) => {
    const strings = new SharedStrings(aScratch());
    strings.add('a');
    strings.add('b');

    expect(() => strings.get(index)).toThrow('not there');
  });
});
