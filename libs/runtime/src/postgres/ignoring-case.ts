/**
 * The condition that a text matches a pattern of `LIKE` in any case, in any alphabet. `ILIKE` means the same, but lowers
 * the pattern again for each row, which for a long one takes most of the time. So a column that is compared byte by byte
 * is compared as text here.
 * @param column as SQL
 * @param pattern as SQL that is the same for all rows, such as a parameter
 */
export const likeIgnoringCase = (column: string, pattern: string): string =>
  `lower(${column} COLLATE "default") LIKE lower(${pattern})`;

/** A column as Prisma names it, compared by `ILIKE` with what it makes of a parameter. */
const ILIKE =
  /((?:"(?:[^"]|"")+"\.)*"(?:[^"]|"")+"(?:::text)?) (NOT )?ILIKE (\((?:'%' \|\| )?\$\d+(?: \|\| '%')?\)|\$\d+(?!\d))/g;

/** A statement of Prisma's in which each `ILIKE` is replaced by what lowers its pattern once. */
export const withPatternsLoweredOnce = (text: string): string =>
  text.includes(' ILIKE ')
    ? text.replace(
        ILIKE,
        (_, column: string, not: string | undefined, pattern: string) =>
          `${not ?? ''}(${likeIgnoringCase(column, pattern)})`,
      )
    : text;
