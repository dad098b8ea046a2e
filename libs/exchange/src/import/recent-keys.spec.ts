import fc from 'fast-check';
import { RecentKeys } from './recent-keys';
import { hashKey } from './unwritten-keys';

describe('recent keys', () => {
  afterEach(() => jest.restoreAllMocks());

  it('have the first row of each key, however alike the hashes are', () => {
    const word = fc.constantFrom('00000000', '00000001', 'fffffffe', 'ffffffff');
    const hash = fc.tuple(word, word, word, word).map((words) => words.join(''));
    const rows = fc.array(fc.tuple(hash, fc.integer({ min: 1, max: 2_000_000_000 })));
    fc.assert(
      fc.property(rows, hash, (added, other) => {
        const recent = new RecentKeys();
        const first = new Map<string, number>();
        for (const [hash, row] of added) {
          recent.add(hash, row);
          first.set(hash, Math.min(row, first.get(hash) ?? Infinity));
        }
        for (const hash of [other, ...first.keys()]) expect(recent.rowOf(hash)).toBe(first.get(hash));
        expect(recent.isEmpty).toBe(added.length === 0);
        expect([...recent.takeIfMany()]).toEqual([]);
      }),
    );
  });

  it('are all taken, each once and near its neighbours, where there are too many of them', () => {
    const all = Array.from({ length: 50_000 }, (_, index) => hashKey(`K${index}`));
    jest.replaceProperty(RecentKeys, 'maximum', all.length);
    const recent = new RecentKeys();
    all.forEach((hash, index) => recent.add(hash, index + 1));

    const parts = [...recent.takeIfMany()];

    const rowOf = new Map(all.map((hash, index) => [hash, index + 1]));
    expect(new Map(parts.flat())).toEqual(rowOf);
    expect(parts.flat()).toHaveLength(all.length);
    for (const [index, part] of parts.slice(1).entries())
      expect(part.at(-1)![0] > parts[index]!.at(-1)![0]).toBe(true);
    expect(recent.isEmpty).toBe(true);
    expect(recent.rowOf(all[0]!)).toBeUndefined();
  });
});
