import { mostAccepted } from './caller-culture';

describe('the culture that a client accepts most', () => {
  it.each([
    ['fr-CA,fr;q=0.9,en;q=0.8', 'fr-CA'],
    ['en;q=0.5, de-de;q=0.7', 'de-DE'],
    ['*', undefined],
    ['fr;q=0, en;q=0.1', 'en'],
    ['!!, ;;;', undefined],
    ['', undefined],
  ])('of %j is %s', (header, culture) => {
    expect(mostAccepted(header)).toBe(culture);
  });
});
