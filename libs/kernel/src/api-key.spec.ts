import fc from 'fast-check';
import { API_KEY_PREFIX, hashOfApiKey, isApiKey, newApiKey } from './api-key';

describe('an API key', () => {
  it('is recognized by its prefix and its checksum', () => {
    const keys = Array.from({ length: 1_000 }, newApiKey);

    expect(keys.filter((key) => !isApiKey(key))).toEqual([]);
    expect(keys[0]).toMatch(/^plinth_[0-9A-Za-z]{38}$/);
    expect(new Set(keys).size).toBe(1_000);
  });

  it('with one other character is none', () => {
    const key = newApiKey();
    const position = fc.integer({ min: API_KEY_PREFIX.length, max: key.length - 1 });
    const character = fc.constantFrom(...'0123456789ABCXYZabcxyz-_. é');
    fc.assert(
      fc.property(position, character, (at, other) => {
        fc.pre(key[at] !== other);
        expect(isApiKey(key.slice(0, at) + other + key.slice(at + 1))).toBe(false);
      }),
    );
  });

  it('is found by a hash that does not contain it', () => {
    const key = newApiKey();
    expect(hashOfApiKey(key)).toMatch(/^[0-9a-f]{64}$/);
    expect(hashOfApiKey(key)).not.toBe(hashOfApiKey(newApiKey()));
  });
});
