import { mentionedUserIds, findMentions, replaceMentions } from './mention';

const EXCERPT_LENGTH_MAX = 200;
/** So much of a body is enough to make an excerpt of it. */
export const EXCERPT_SOURCE_LENGTH = 2_000;

/** The people whose names an excerpt of this text says. */
export const peopleInExcerpt = (text: string): string[] => mentionedUserIds(findMentions(text));

/**
 * The beginning of a text in one line. Who is mentioned is called by the name in the directory, or by the id: what the
 * writer typed between the brackets could be anything.
 */
export function excerptOf(text: string, nameByUserId: ReadonlyMap<string, string>): string {
  const named = replaceMentions(text, (userId) => `@${nameByUserId.get(userId) ?? userId}`);
  const characters = [...named.replace(/\s+/g, ' ').trim()];
  if (characters.length <= EXCERPT_LENGTH_MAX) return characters.join('');
  return `${characters
    .slice(0, EXCERPT_LENGTH_MAX - 1)
    .join('')
    .trimEnd()}…`;
}
