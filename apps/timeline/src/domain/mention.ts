/** The id of a user in a mention is at most this long; longer ones are no mention. */
const USER_ID_LENGTH_MAX = 255;

export interface Mention {
  userId: string;
  /** Where the mention stands in the text. */
  start: number;
  end: number;
}

/**
 * Finds the mentions `@[display name](user:id)` of a text, in one pass: a hostile text costs no more than a plain one.
 * The display name is not read; its author may have typed any text.
 */
export function findMentions(text: string): Mention[] {
  const mentions: Mention[] = [];
  let start = -1;
  for (let index = 0; index < text.length; index++) {
    const character = text[index];
    if (character === '\n') start = -1;
    else if (character === '[') start = text[index - 1] === '@' ? index - 1 : -1;
    else if (character === ']') {
      const end = start < 0 ? -1 : endOfTarget(text, index + 1);
      if (end > 0) {
        mentions.push({ userId: text.slice(index + TARGET.length + 1, end - 1), start, end });
        index = end - 1;
      }
      start = -1;
    }
  }
  return mentions;
}

const TARGET = '(user:';

/** Where `(user:id)` ends that begins here, or -1 where there is none. Never looks past the next bracket. */
function endOfTarget(text: string, from: number): number {
  if (!text.startsWith(TARGET, from)) return -1;
  const first = from + TARGET.length;
  for (let index = first; index <= first + USER_ID_LENGTH_MAX; index++) {
    const character = text[index];
    if (character === ')') return index > first ? index + 1 : -1;
    if (character === undefined || character <= ' ' || '()[]'.includes(character)) return -1;
  }
  return -1;
}

/** The mentioned users, each once, in the order of the text. */
export const mentionedUserIds = (mentions: readonly Mention[]): string[] => [
  ...new Set(mentions.map(({ userId }) => userId)),
];

/** Replaces each mention by what `toText` makes of its user. */
export function replaceMentions(text: string, toText: (userId: string) => string): string {
  let result = '';
  let position = 0;
  for (const { userId, start, end } of findMentions(text)) {
    result += text.slice(position, start) + toText(userId);
    position = end;
  }
  return result + text.slice(position);
}
