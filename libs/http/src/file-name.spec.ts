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
});
