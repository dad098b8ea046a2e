import fc from 'fast-check';
import { secretBox } from './secret-box';

describe('the secret box', () => {
  it('opens what it sealed, for any text, and never seals a text alike twice', () => {
    const box = secretBox(['a-key-of-sixteen']);
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(box.open(box.seal(text))).toBe(text);
        expect(box.seal(text)).not.toBe(box.seal(text));
      }),
    );
  });

  it('opens with a former key and refuses what was tampered with', () => {
    const sealed = secretBox(['former-key-here!']).seal('secret');
    expect(secretBox(['present-key-here', 'former-key-here!']).open(sealed)).toBe('secret');
    const tampered = Buffer.from(sealed, 'base64');
    tampered[20]! ^= 1;
    expect(() => secretBox(['former-key-here!']).open(tampered.toString('base64'))).toThrow(
      'cannot be opened',
    );
  });
});
