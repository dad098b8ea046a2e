/** Text that a LIKE pattern matches literally: `%`, `_` and `\` lose their meaning. */
export const escapeLike = (text: string): string => text.replace(/[\\%_]/g, '\\$&');
