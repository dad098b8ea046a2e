import { bodyIn, chooseCulture, systemCultures, systemTexts } from './system-text';

describe('texts of the system', () => {
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

  it('take values as they are, whatever is in them', () => {
    const message = { key: 'workflow.moved', values: { previousState: '{newState}', newState: '$& <b>' } };
    expect(bodyIn('en', { body: '', message })).toBe('Moved from {newState} to $& <b>.');
  });

  it('say the key where a later release wrote a text that this one does not know', () => {
    expect(bodyIn('en', { body: '', message: { key: 'new.text', values: {} } })).toBe('new.text');
  });

  it.each([
    [undefined, undefined, 'en'],
    [undefined, 'fr-BE, en;q=0.5', 'fr'],
    [undefined, 'de, fr-CA;q=0.3, en-GB;q=0.7', 'en-GB'],
    [undefined, 'fr;q=0, en', 'en'],
    [undefined, '*', 'en'],
    ['fr-ca', 'en', 'fr-CA'],
    ['de', 'fr', 'fr'],
    ['', 'nonsense;;q=x', 'en'],
  ])('are for a reader who prefers %s and accepts %s in %s', (preferred, accepted, culture) => {
    expect(chooseCulture(preferred, accepted)).toBe(culture);
  });
});
