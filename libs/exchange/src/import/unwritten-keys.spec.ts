import { hashKey, UnwrittenKeys } from './unwritten-keys';

const packed = (all: readonly string[]) => Buffer.from(all.join(''), 'hex');
const hashes = (first: number, count: number) =>
  Array.from({ length: count }, (_, index) => hashKey(`K${first + index}`));

describe('unwritten keys', () => {
  it('never leave out a key that was not written', () => {
    const unwritten = new UnwrittenKeys(packed(hashes(0, 5_000)));
    for (const hash of hashes(5_000, 5_000)) unwritten.add(hash);

    expect(hashes(0, 10_000).filter((hash) => !unwritten.mayHave(hash))).toEqual([]);
  });

  it('leave out nearly all others', () => {
    const unwritten = new UnwrittenKeys(packed(hashes(0, 10_000)));

    expect(hashes(10_000, 10_000).filter((hash) => unwritten.mayHave(hash)).length).toBeLessThan(100);
  });

  it('leave out no key once another session may have added some', () => {
    const unwritten = new UnwrittenKeys();
    unwritten.forget();

    expect(unwritten.isEmpty).toBe(false);
    expect(unwritten.mayHave(hashKey('another'))).toBe(true);
  });

  it('of a dry-run have hashes that nobody can choose', () => {
    const chosen = Array.from({ length: 5_000 }, (_, index) => `K${index}`).filter((key) =>
      hashKey(key).startsWith('0'),
    );

    const unwritten = UnwrittenKeys.ofDryRun();

    expect(new Set(chosen.map((key) => unwritten.hashOf(key)[0])).size).toBe(16);
    expect(unwritten.hashOf('K1')).toBe(unwritten.hashOf('K1'));
    unwritten.recent!.close();
  });

  it('leave out nearly all others also where they are a million', () => {
    const unwritten = new UnwrittenKeys();
    const all = hashes(0, 1_000_000);
    for (const hash of all) unwritten.add(hash);

    expect(all.every((hash) => unwritten.mayHave(hash))).toBe(true);
    expect(hashes(1_000_000, 10_000).filter((hash) => unwritten.mayHave(hash)).length).toBeLessThan(100);
  });

  it('leave out no key where there are more than are read', () => {
    const unwritten = new UnwrittenKeys(packed(hashes(0, UnwrittenKeys.readMax)));

    expect(unwritten.mayHave(hashKey('another'))).toBe(true);
  });
});
