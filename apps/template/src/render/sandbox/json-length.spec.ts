import fc from 'fast-check';
import { jsonBytes, jsonLength } from './json-length';

describe('the length of a text as JSON', () => {
  it('is what JSON.stringify makes of it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(jsonLength(text)).toBe(JSON.stringify(text).length);
      }),
    );
  });

  it('is in UTF-8 what is sent of it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(jsonBytes(text)).toBe(Buffer.byteLength(JSON.stringify(text)));
      }),
    );
  });

  it('is not less than that for halves of surrogate pairs', () => {
    for (const text of ['\ud800', 'a\udc00b', '\u{1f600}\ud83d'])
      expect(jsonLength(text)).toBeGreaterThanOrEqual(JSON.stringify(text).length);
  });
});
