import fc from 'fast-check';
import { RecentKeys } from './recent-keys';
import { UnwrittenKeys } from './unwritten-keys';

describe('recent keys', () => {
  afterEach(() => jest.restoreAllMocks());

  it('have the first row of each key, however alike the hashes are', () => {
    const word = fc.constantFrom('00000000', '00000001', 'fffffffe', 'ffffffff');
    const hash = fc.tuple(word, word).map((words) => words.join('').padEnd(32, '0'));
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
        recent.close();
      }),
    );
  });

  it('are all taken, each once and near its neighbours, where there are too many of them', () => {
    const keys = UnwrittenKeys.ofDryRun();
    const all = Array.from({ length: 50_000 }, (_, index) => keys.hashOf(`K${index}`));
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
    for (const ended of [recent, keys.recent!]) ended.close();
  });

  it('are all taken where those of all dry-runs take too much memory, until others end', () => {
    jest.replaceProperty(RecentKeys, 'bytesMaximum', 4 * 3 * 4 * 1_024);
    const keys = UnwrittenKeys.ofDryRun();
    const hash = keys.hashOf('K');
    const [recent, ...others] = Array.from({ length: 4 }, () => new RecentKeys());
    recent!.add(hash, 1);
    const isTaken = () => [...recent!.takeIfMany()].flat().length > 0;

    expect(isTaken()).toBe(true);
    keys.recent!.close();
    recent!.add(hash, 1);
    expect(isTaken()).toBe(false);
    for (const other of [recent!, ...others]) other.close();
  });

  it('are none once they are closed, also for a batch that goes on', () => {
    const keys = UnwrittenKeys.ofDryRun();
    const recent = new RecentKeys();
    const hash = keys.hashOf('K');
    recent.add(hash, 1);
    recent.close();

    recent.add(hash, 2);
    expect(recent.rowOf(hash)).toBeUndefined();
    expect(recent.isEmpty).toBe(true);
    jest.replaceProperty(RecentKeys, 'bytesMaximum', -1);
    expect([...recent.takeIfMany()]).toEqual([]);
    keys.recent!.close();
  });
});
