import type { Suggestion } from '../api/timeline';

/** What the writer is typing after an `@`, just before the caret. */
export const mentionBefore = (text: string): string | undefined =>
  /(?:^|\s)@([\p{L}\d][\p{L}\d .’'-]{0,40})$/u.exec(text)?.[1];

/** Writes the names of the people who were chosen as the platform understands mentions. */
export function withMentions(text: string, people: readonly Suggestion[]): string {
  return people
    .toSorted((left, right) => right.displayName.length - left.displayName.length)
    .reduce(
      (body, { id, displayName }) => body.replaceAll(`@${displayName}`, `@[${displayName}](user:${id})`),
      text,
    );
}

/** The parts of a body: text, and the names of people in it. */
export function partsOf(body: string): { text: string; isMention: boolean }[] {
  return body
    .split(/(@\[[^\]\n]+\]\(user:[^)\s]+\))/)
    .filter((part) => part !== '')
    .map((part) => {
      const name = /^@\[([^\]\n]+)\]\(user:[^)\s]+\)$/.exec(part)?.[1];
      return name === undefined ? { text: part, isMention: false } : { text: `@${name}`, isMention: true };
    });
}
