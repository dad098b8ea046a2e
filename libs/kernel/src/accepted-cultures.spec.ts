import fc from 'fast-check';
import { acceptedCultures } from './accepted-cultures';

describe('acceptedCultures', () => {
  it.each([
    ['fr-CA,fr;q=0.9,en;q=0.8', ['fr-CA', 'fr', 'en']],
    ['en;q=0.5, de-de;q=0.7', ['de-DE', 'en']],
    ['en;q=0.2, *', ['*', 'en']],
    ['fr;q=0, en;q=0.1', ['en']],
    ['!!, ;;;, fr;q=2, x', []],
    ['', []],
    [undefined, []],
  ])('reads %j as %j', (header, cultures) => {
    expect(acceptedCultures(header)).toEqual(cultures);
  });
});

it('the cultures of an Accept-Language are those that were written, the most wanted first', () => {
  const range = fc.record({
    culture: fc.constantFrom('en', 'fr', 'fr-CA', 'de', 'zh-Hant-TW', '*'),
    thousandths: fc.integer({ min: 0, max: 1_000 }),
  });
  const noise = fc.constantFrom('', ';q=1', 'en;q=2', '???', 'en-', 'x;y');
  fc.assert(
    fc.property(fc.array(range, { maxLength: 10 }), fc.array(noise, { maxLength: 5 }), (ranges, broken) => {
      const written = ranges.map(
        ({ culture, thousandths }) => `${culture};q=${(thousandths / 1_000).toFixed(3)}`,
      );
      const wanted = ranges
        .filter(({ thousandths }) => thousandths > 0)
        .sort((one, other) => other.thousandths - one.thousandths);
      expect(acceptedCultures([...broken, ...written, ...broken].join(', '))).toEqual(
        wanted.map(({ culture }) => culture),
      );
    }),
  );
});

it('an Accept-Language of blanks is read in one pass', () => {
  expect(acceptedCultures(`fr,a${' '.repeat(2_000_000)}x`)).toEqual(['fr']);
});
