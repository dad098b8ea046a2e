import fc from 'fast-check';
import { cleanFileName } from './file-name';

describe('the name of an uploaded file', () => {
  it('is cleaned of folders, control characters and half surrogates, and has at most 255 characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (name) => {
        const clean = cleanFileName(name);
        expect(clean).not.toMatch(/[/\\\p{Cc}\p{Cf}]/u);
        expect(clean.isWellFormed()).toBe(true);
        expect([...clean].length).toBeGreaterThan(0);
        expect([...clean].length).toBeLessThanOrEqual(255);
      }),
    );
  });

  it('is composed, and of a long one no more than is kept', () => {
    expect(cleanFileName('re\u0301sume\u0301.csv')).toBe('résumé.csv');
    expect(cleanFileName(`${'e\u0301'.repeat(300)}.csv`)).toBe(`${'é'.repeat(251)}.csv`);

    const normalize = jest.spyOn(String.prototype, 'normalize');
    const name = `a${'\u0301'.repeat(10_000)}${'\u0316'.repeat(10_000)}`;
    expect(cleanFileName(name)).toBe('\u0316'.repeat(255));
    cleanFileName('e\u0301'.repeat(10_000));
    for (const text of normalize.mock.contexts) expect(String(text).length).toBeLessThan(2_000);
    normalize.mockRestore();
  });
});
