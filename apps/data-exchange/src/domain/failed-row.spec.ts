import { rowMessage } from '@plinth/exchange/row-message';
import { Localizer } from './failed-row';

/** Each number that is written reads this property. */
const numberFormat = Intl.NumberFormat.prototype as { readonly format: unknown };

const unknown = (value: string) => ({
  column: 'Company',
  value,
  code: 'Service:Identity:UnknownReference',
  message: 'x',
  text: rowMessage('unknownReference', value),
});

const saying = (text: string, value: string) =>
  new Localizer({ culture: 'fr', byKey: { 'rowErrors.unknownReference': text } }, 10_000).detail(
    unknown(value),
  ).message;

describe('the message of an error of a row', () => {
  it('is in the words of the tenant', () => {
    expect(saying('{0} « {1} » est inconnu.', 'ACME')).toBe('Company « ACME » est inconnu.');
  });

  it('is in English, and is not even made, where a text says its values over and over', () => {
    expect(saying('{1}'.repeat(1_300), 'k'.repeat(200))).toBe(`Company "${'k'.repeat(200)}" is not known.`);
    // As a text it would be longer than a text can be.
    const value = 'k'.repeat(1_000_000);
    expect(saying('{1}'.repeat(1_300), value)).toBe(`Company "${value}" is not known.`);
  });

  it('is in English, and no number of it is made, where a plural says its number over and over', () => {
    const numbers = jest.spyOn(numberFormat, 'format', 'get');
    const plural = `{1, plural, other {${'#'.repeat(3_900)}}}`;
    expect(saying(plural, '1e308')).toBe('Company "1e308" is not known.');
    expect(numbers).not.toHaveBeenCalled();
    numbers.mockRestore();
  });

  it('takes of its room also what is too long, so that little is made in vain', () => {
    const numbers = jest.spyOn(numberFormat, 'format', 'get');
    const localizer = new Localizer(
      { culture: 'fr', byKey: { 'rowErrors.unknownReference': `{1, plural, other {${'#'.repeat(18)}}}` } },
      100_000,
    );
    for (let row = 0; row < 100; row++) localizer.detail(unknown('1e308'));
    expect(numbers.mock.calls.length).toBeLessThan(18 * 10);
    numbers.mockRestore();
  });

  it('is the one that came with the error where its owner, of a later version, says what is not known here', () => {
    const message = 'The moon is full.';
    const text = { key: 'fullMoon' as never, args: [] };
    const detail = { column: 'Company', value: 'x', code: 'Service:Identity:FullMoon', message, text };
    expect(new Localizer({ culture: 'fr', byKey: {} }, 10_000).detail(detail).message).toBe(message);
  });
});
