import { mentionBefore, partsOf, withMentions } from './mentions';

describe('mentions', () => {
  const ada = { id: 'ada', displayName: 'Ada' };
  const lovelace = { id: 'lovelace', displayName: 'Ada Lovelace' };

  it('are offered while a name is typed after an @, and not in an address', () => {
    expect(mentionBefore('Ask @Ad')).toBe('Ad');
    expect(mentionBefore('@Émile Z')).toBe('Émile Z');
    expect(mentionBefore('ada@example')).toBeUndefined();
    expect(mentionBefore('Ask @')).toBeUndefined();
  });

  it('are written as the platform reads them, the longer name first', () => {
    expect(withMentions('@Ada Lovelace and @Ada', [ada, lovelace])).toBe(
      '@[Ada Lovelace](user:lovelace) and @[Ada](user:ada)',
    );
  });

  it('are shown as names', () => {
    expect(partsOf('Ask @[Ada](user:ada), please')).toEqual([
      { text: 'Ask ', isMention: false },
      { text: '@Ada', isMention: true },
      { text: ', please', isMention: false },
    ]);
  });
});
