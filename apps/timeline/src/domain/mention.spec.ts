import fc from 'fast-check';
import { findMentions, mentionedUserIds, replaceMentions } from './mention';

const usersIn = (text: string) => mentionedUserIds(findMentions(text));

describe('mentions in a text', () => {
  it.each<[string, string, string[]]>([
    ['one person', 'Hello @[Ann Lee](user:u-1)!', ['u-1']],
    ['several people, each once', '@[A](user:a) @[B](user:b) @[A again](user:a)', ['a', 'b']],
    [
      'an id as identity providers write them',
      '@[Ann](user:auth0|5f7c8ec7c33c6c004bbafe82)',
      ['auth0|5f7c8ec7c33c6c004bbafe82'],
    ],
    ['an empty display name', '@[](user:a)', ['a']],
    ['no one where the pattern is broken', '@[A](user:) @[B](group:b) @[C] (user:c) [D](user:d)', []],
    ['no one where the id is cut or has blanks', '@[A](user:a b) @[B](user:b\n) @[C](user:c', []],
    ['the inner one of nested mentions', '@[x @[y](user:y)](user:x)', ['y']],
    ['no one where the name spans lines', '@[A\nB](user:a)', []],
    ['no one for an id of 256 characters', `@[A](user:${'x'.repeat(256)})`, []],
    ['someone for an id of 255 characters', `@[A](user:${'x'.repeat(255)})`, ['x'.repeat(255)]],
    ['a person whose name looks like a script', '@[<img onerror=x> javascript:1](user:a)', ['a']],
  ])('finds %s', (_description, text, expected) => {
    expect(usersIn(text)).toEqual(expected);
  });

  it.each(['@[', '@[x](user:', '@[x]', '](user:', '@[@', '(user:x)'])(
    'reads 1 MB of "%s" in less than 50 ms',
    (seed) => {
      const bomb = seed.repeat(Math.ceil(1_048_576 / seed.length));
      // Time of the processor, the best of three: others may be busy on the same machine.
      const times = [1, 2, 3].map(() => {
        const before = process.cpuUsage();
        findMentions(bomb);
        return process.cpuUsage(before).user / 1_000;
      });
      expect(Math.min(...times)).toBeLessThan(50);
    },
  );

  it('are those that a regular expression finds, in any text', () => {
    const text = fc.string({
      unit: fc.constantFrom('@', '[', ']', '(', ')', '@[', '](user:', 'user:', ' ', '\n', 'a', '😀'),
      maxLength: 60,
    });
    fc.assert(
      fc.property(text, (written) => {
        const expected = [...written.matchAll(/@\[[^[\]\n]*\]\(user:([^\0- ()[\]]{1,255})\)/g)];
        expect(findMentions(written)).toEqual(
          expected.map((match) => ({
            userId: match[1],
            start: match.index,
            end: match.index + match[0].length,
          })),
        );
      }),
      { numRuns: 1_000 },
    );
  });

  it('are replaced by names from the directory', () => {
    const text = 'Ask @[the boss](user:u-1) or @[nobody](user:u-2).';
    const names: Record<string, string> = { 'u-1': 'Ann Lee' };
    expect(replaceMentions(text, (id) => `@${names[id] ?? id}`)).toBe('Ask @Ann Lee or @u-2.');
  });
});
