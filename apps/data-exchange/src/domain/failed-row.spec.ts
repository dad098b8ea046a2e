import { rowMessage } from '@plinth/exchange/row-message';
import { Localizer } from './failed-row';

const saying = (text: string, value: string) =>
  new Localizer({ culture: 'fr', byKey: { 'rowErrors.unknownReference': text } }, 10_000).detail({
    column: 'Company',
    value,
    code: 'Service:Identity:UnknownReference',
    message: 'x',
    text: rowMessage('unknownReference', value),
  }).message;

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

  it('is the one that came with the error where its owner, of a later version, says what is not known here', () => {
    const message = 'The moon is full.';
    const text = { key: 'fullMoon' as never, args: [] };
    const detail = { column: 'Company', value: 'x', code: 'Service:Identity:FullMoon', message, text };
    expect(new Localizer({ culture: 'fr', byKey: {} }, 10_000).detail(detail).message).toBe(message);
  });
});
