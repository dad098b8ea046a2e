import { bodyIn, chooseCulture, systemCultures, systemTexts } from './system-text';

describe('texts of system logs', () => {
  it.each(systemCultures)('are complete in %s, with the same placeholders', (culture) => {
    // A noted entity brings its words in each language, under the name of that language.
    const placeholders = (text = '') =>
      text
        .replace(/^\{(en|fr)\}$/, '{words}')
        .match(/\{\w+\}/g)
        ?.sort();
    expect(Object.keys(systemTexts[culture])).toEqual(Object.keys(systemTexts.en));
    for (const [key, text] of Object.entries(systemTexts[culture])) {
      expect(placeholders(text)).toEqual(placeholders(systemTexts.en[key]));
    }
  });

  it('insert values without interpreting them', () => {
    const message = { key: 'workflow.moved', values: { previousState: '{newState}', newState: '$& <b>' } };
    expect(bodyIn('en', { body: '', message })).toBe('Moved from {newState} to $& <b>.');
  });

  it('fall back to the key of a text that this release does not know', () => {
    expect(bodyIn('en', { body: '', message: { key: 'new.text', values: {} } })).toBe('new.text');
  });

  it.each([
    [[], 'en'],
    [['fr-BE', 'en'], 'fr'],
    [['de', 'en-GB', 'fr-CA'], 'en-GB'],
    [['fr-CA', 'en'], 'fr-CA'],
    [['de'], 'en'],
  ])('for a reader who prefers %j are in %s', (wishes, culture) => {
    expect(chooseCulture(wishes)).toBe(culture);
  });
});
