import fc from 'fast-check';
import { comparePlaceholders, placeholdersOf } from './placeholders';

describe('the placeholders of a text', () => {
  it.each([
    ['Nothing to fill in', []],
    ['{0} of {1}, {0} again', ['0', '1']],
    ['Hello {name}!', ['name']],
    ["L'{0} n'est pas là", ['0']],
    ['{ spaced }', ['spaced']],
    ['{0:N2} and {1,10:N2}', ['0', '1']],
    ['{when, date, short}', ['when']],
    ['{count, plural, =0 {none} one {# of {total}} other {#}}', ['count', 'total']],
    ['{who, select, male {he} female {she} other {{name}}}', ['who', 'name']],
    ['{a, plural, other {{b, select, other {{c}}}}}', ['a', 'b', 'c']],
    ['{{name}}', ['name']],
    ['{} {?} {a b} { "a": 1 }', []],
    ['{0} and a lone } or {', ['0']],
    ['{unclosed', []],
    ['{unclosed {0}', ['0']],
    ['{__proto__}', ['__proto__']],
  ])('of "%s" are %j', (text, names) => {
    expect([...placeholdersOf(text)]).toEqual(names);
  });

  it('are read from any text without an error', () => {
    const piece = fc.constantFrom('{', '}', 'a', ',', ' ', 'plural', 'select', '0', '#', "'", ':');
    fc.assert(
      fc.property(fc.array(piece), (pieces) => expect(placeholdersOf(pieces.join(''))).toBeInstanceOf(Set)),
    );
  });

  it.each([['{'], ['{a,plural,b{'], ['{}'], ['a '], ['{a']])(
    'are read quickly from %s, many times over',
    (piece) => {
      const before = process.cpuUsage();
      placeholdersOf(piece.repeat(4_000 / piece.length));
      placeholdersOf(piece.repeat(2_000 / piece.length) + '}'.repeat(2_000));
      // Of the processor, which other work on a busy machine does not count in.
      expect(process.cpuUsage(before).user).toBeLessThan(500_000);
    },
  );
});

describe('comparePlaceholders', () => {
  it('accepts the same names in another order', () => {
    expect(comparePlaceholders('{0} of {1}', 'From {1}: {0}, {0}')).toBeUndefined();
  });

  it('names missing and unexpected placeholders', () => {
    expect(comparePlaceholders('{0} of {1}', '{1} of {2}')).toEqual({ missing: ['0'], unexpected: ['2'] });
  });
});
