/** The last column of a correction file, with what is wrong with a row. A file that has it is read as its upload was. */
export const ERRORS_COLUMN = '_Errors';

/** The columns of an upload that its correction file has too, by their index: all but one of errors that it had already. */
export const correctionColumns = (headers: readonly string[]): number[] =>
  headers.flatMap((header, index) => (header === ERRORS_COLUMN ? [] : [index]));

/** The header of the correction file of an upload. */
export const correctionHeaders = (headers: readonly string[]): string[] => [
  ...correctionColumns(headers).map((index) => headers[index]!),
  ERRORS_COLUMN,
];
