import fc from 'fast-check';
import { fallbackChain, findCulture, negotiateCulture } from './culture';

const known = new Set(['fr', 'fr-CA', 'en', 'en-GB', 'zh-Hant']);
const isKnown = (culture: string) => known.has(culture);

describe('the fallback chain of a culture', () => {
  it.each([
    ['fr-CA', ['fr-CA', 'fr', 'en']],
    ['en-GB', ['en-GB', 'en']],
    ['en', ['en']],
    ['de', ['de', 'en']],
    ['zh-Hant-TW', ['zh-Hant-TW', 'zh-Hant', 'zh', 'en']],
    ['de-u-co-phonebk', ['de-u-co-phonebk', 'de-u-co', 'de', 'en']],
  ])('of %s is %j', (culture, chain) => {
    expect(fallbackChain(culture)).toEqual(chain);
  });

  it.each([
    ['fr-BE', 'fr'],
    ['fr-CA-x-quebec', 'fr-CA'],
    ['zh-Hant-HK', 'zh-Hant'],
    ['zh-Hans', undefined],
    ['de', undefined],
  ])('finds for %s the known culture %s', (culture, found) => {
    expect(findCulture(culture, isKnown)).toBe(found);
  });
});

describe('the choice of a culture by Accept-Language', () => {
  it.each([
    ['fr-CA,fr;q=0.8,en;q=0.5', 'fr-CA'],
    ['en;q=0.5, fr;q=0.9', 'fr'],
    ['fr-BE', 'fr'],
    ['de, ja;q=0.9, en-gb;q=0.1', 'en-GB'],
    ['fr;q=0, en-GB;q=0.001', 'en-GB'],
    ['EN-gb', 'en-GB'],
    ['de, *;q=0.1', 'en'],
    ['en-GB, fr', 'en-GB'],
    ['fr;q=2, en-GB', 'en-GB'],
    ['de', undefined],
    ['', undefined],
    [undefined, undefined],
    [';;;q=,,fr_CA', undefined],
  ])('"%s" chooses %s', (header, culture) => {
    expect(negotiateCulture(header, isKnown)).toBe(culture);
  });

  it('never fails and never chooses an unknown culture', () => {
    const part = fc.oneof(fc.constantFrom('fr', 'en-GB', '*', ';q=0.5', ';q=x', 'x', '-'), fc.string());
    fc.assert(
      fc.property(fc.array(part), fc.constantFrom(',', ''), (parts, separator) => {
        const chosen = negotiateCulture(parts.join(separator), isKnown);
        expect(chosen === undefined || known.has(chosen)).toBe(true);
      }),
    );
  });
});
