import fc from 'fast-check';
import { secretBox } from './secret-box';

describe('the secret box', () => {
  it('opens what it sealed, whatever the text, and never seals it alike twice', () => {
    const box = secretBox(['a-key-of-sixteen']);
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(box.open(box.seal(text))).toBe(text);
        expect(box.seal(text)).not.toBe(box.seal(text));
      }),
    );
  });

  it('opens with a former key and refuses what was touched', () => {
    const sealed = secretBox(['former-key-here!']).seal('secret');
    expect(secretBox(['present-key-here', 'former-key-here!']).open(sealed)).toBe('secret');
    const touched = Buffer.from(sealed, 'base64');
    touched[20]! ^= 1;
    expect(() => secretBox(['former-key-here!']).open(touched.toString('base64'))).toThrow(
      'cannot be opened',
    );
  });
});
