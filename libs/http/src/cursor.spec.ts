import fc from 'fast-check';
import { signCursor, verifyCursor } from './cursor';

const keys = ['a-key-of-sixteen'];
const context = 'tenant\n/path\n-createdAt';

describe('the cursor of a list', () => {
  it('returns the key that it was made from', () => {
    const value = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null));
    fc.assert(
      fc.property(fc.array(value), (key) => {
        expect(verifyCursor(signCursor(key, context, keys), context, keys)).toEqual(key);
      }),
    );
  });

  it('is refused with a changed, missing or added character', () => {
    const cursor = signCursor(['2026-11-21T12:00:00.000Z', 'id'], context, keys);
    fc.assert(
      fc.property(fc.nat(cursor.length), fc.constantFrom('', 'A', '_', '%', '\0'), (at, character) => {
        const changed = cursor.slice(0, at) + character + cursor.slice(at + 1);
        fc.pre(changed !== cursor);
        expect(() => verifyCursor(changed, context, keys)).toThrow('not made for this list');
      }),
    );
  });

  it('is refused for another tenant, path, sort order or signing key', () => {
    const cursor = signCursor(['id'], context, keys);
    expect(() => verifyCursor(cursor, 'other\n/path\n-createdAt', keys)).toThrow();
    expect(() => verifyCursor(cursor, context, ['another-key-here!'])).toThrow();
    expect(verifyCursor(cursor, context, ['another-key-here!', ...keys])).toEqual(['id']);
  });
});
