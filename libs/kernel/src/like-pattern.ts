/** Text that a LIKE pattern matches literally: `%`, `_` and `\` lose their meaning. */
export const escapeLike = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

/**
 * How often a text repeats its beginning within itself: 5 for `aaaaa`, 2 for `abcab`, 1 where it never does. `LIKE` compares
 * a text that it looks for with each place of another one anew, and so with so many characters for each of them at worst.
 */
export function repetitionsOf(text: string): number {
  /** For each beginning of the text: the longest end of it that is a beginning too, and how often it repeats. */
  const ends = [0];
  const repetitions = [0, 1];
  let most = Math.min(text.length, 1);
  for (let index = 1; index < text.length; index++) {
    let end = ends[index - 1]!;
    while (end > 0 && text[end] !== text[index]) end = ends[end - 1]!;
    if (text[end] === text[index]) end++;
    ends.push(end);
    const count = repetitions[end]! + 1;
    repetitions.push(count);
    most = Math.max(most, count);
  }
  return most;
}
