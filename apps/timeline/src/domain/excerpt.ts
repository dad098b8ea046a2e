import { mentionedUserIds, findMentions, replaceMentions } from './mention';

const EXCERPT_LENGTH_MAX = 200;
/** So much of a body is enough to make an excerpt of it. */
export const EXCERPT_SOURCE_LENGTH = 2_000;

/** The people whose names an excerpt of this text shows. */
export const mentionedInExcerpt = (text: string): string[] => mentionedUserIds(findMentions(text));

/**
 * The beginning of a text in one line. A mention shows the person's name in the directory, or the id: what the author
 * typed between the brackets could be any text.
 */
export function excerptOf(text: string, nameByUserId: ReadonlyMap<string, string>): string {
  const named = replaceMentions(text, (userId) => `@${nameByUserId.get(userId) ?? userId}`);
  return toOneLine(named);
}

/** A text in one line of bounded length. */
export function toOneLine(text: string): string {
  // No more than is needed to know whether it is too long: a character has at most two code units.
  const characters = [
    ...text
      .replace(/\s+/g, ' ')
      .trim()
      .slice(0, 2 * EXCERPT_LENGTH_MAX + 2),
  ];
  if (characters.length <= EXCERPT_LENGTH_MAX) return characters.join('');
  return `${characters
    .slice(0, EXCERPT_LENGTH_MAX - 1)
    .join('')
    .trimEnd()}…`;
}
