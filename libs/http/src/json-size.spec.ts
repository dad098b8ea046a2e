import fc from 'fast-check';
import { jsonSizeOf } from './json-size';

describe('the size of the JSON of a value', () => {
  it.each([
    ['x'.repeat(1_000), 1_000],
    ['é'.repeat(1_000), 2_000],
    [{ items: Array.from({ length: 20 }, () => ({ body: 'x'.repeat(500) })) }, 10_000],
  ])('is about that of its texts: %#', (value, bytes) => {
    expect(jsonSizeOf(value)).toBeGreaterThanOrEqual(bytes);
    expect(jsonSizeOf(value)).toBeLessThan(bytes * 1.1);
  });

  it('is told of whatever can be written', () => {
    const value = fc.object({ withDate: true, withNullPrototype: true, withSparseArray: true });
    fc.assert(
      fc.property(value, (made) => {
        expect(jsonSizeOf(made)).toBeGreaterThan(0);
      }),
    );
  });
});
