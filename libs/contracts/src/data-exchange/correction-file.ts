/** The last column of a correction file, with what is wrong with a row. A file that has it is read as its upload was. */
export const ERRORS_COLUMN = '_Errors';
