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
    expect(secretBox(['former-key-here!']).open(tampered.toString('base64'))).toBeUndefined();
  });

  it('opens nothing of a text that was not sealed, whatever it is', () => {
    const box = secretBox(['a-key-of-sixteen']);
    const texts = fc.oneof(
      fc.string(),
      fc.base64String({ maxLength: 80 }),
      fc.constantFrom('', 'abc', 'A'.repeat(38) + '=='),
    );
    fc.assert(
      fc.property(texts, (text) => {
        expect(box.open(text)).toBeUndefined();
      }),
    );
  });
});
