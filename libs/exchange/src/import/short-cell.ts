/**
 * No number, amount, day or time has more characters. A cell of a file may be as long as a file, for which patterns with
 * several open parts take minutes.
 */
export const SHORT_CELL_MAX = 64;
