import { createHmac, randomBytes } from 'node:crypto';
import { hmacSha256 } from './hmac';

const keys = {
  short: 'secret',
  'as long as a block': 'k'.repeat(64),
  longer: 'k'.repeat(65),
  'not ASCII': 'schlüssel 🔑'.repeat(3),
};

describe.each(Object.entries(keys))('the HMAC by a key that is %s', (_, key) => {
  it.each([
    ['none', []],
    ['an empty text', ['']],
    ['a text', ['The quick brown fox']],
    ['a text that is not ASCII, and half of a surrogate pair', ['Grüße 🦊 \ud800']],
    ['bytes', [randomBytes(300)]],
    ['pieces of both kinds', ['subject', '\n', randomBytes(77), 'ü']],
    ['a long text', ['ü'.repeat(100_000)]],
    ['many bytes', [randomBytes(1_000_000)]],
  ] as [string, (string | Buffer)[]][])('is that of Node: %s', (_name, message) => {
    const expected = createHmac('sha256', key);
    for (const piece of message) expected.update(piece);
    expect(hmacSha256(key, ...message)).toEqual(expected.digest());
  });

  it('is one that no later message changes', () => {
    const first = hmacSha256(key, 'first');
    const copy = Buffer.from(first);
    hmacSha256(key, 'second');
    expect(first).toEqual(copy);
  });
});
