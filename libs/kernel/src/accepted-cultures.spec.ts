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
