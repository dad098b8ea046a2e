import { formatMessage } from '@plinth/kernel/message';

/**
 * The messages of rows that are not imported, in English. Data exchange localizes them by the texts of the resource
 * `DataExchange` under `rowErrors`; `{0}` is the column, and they are ICU messages.
 */
export const rowMessages = {
  notEmpty: '{0} must not be empty.',
  text: '{0} holds characters that cannot be stored.',
  minimumLength: '{0} must have at least {1, plural, one {# character} other {# characters}}.',
  maximumLength: '{0} must have at most {1, plural, one {# character} other {# characters}}.',
  integer: '{0} must be a whole number.',
  number: '{0} must be a number.',
  numberLike: '{0} must be a number such as {1}.',
  unclearNumber:
    '{0} must be a number; the file does not show whether its dot or comma groups digits or separates decimals.',
  atLeast: '{0} must be at least {1}.',
  atMost: '{0} must be at most {1}.',
  multipleOf: '{0} must be a multiple of {1}.',
  boolean: '{0} must be true or false.',
  date: '{0} must be a date such as {1}.',
  timestamp: '{0} must be a date and time such as {1}.',
  uuid: '{0} must be a UUID.',
  enum: '{0} must be one of {1}.',
  email: '{0} must be an email address.',
  notValid: '{0} is not valid.',
  notFitting: '{0} does not fit: {1}',
  writtenLike: '{0} must be written like {1}.',
  forbiddenCharacters: '{0} must not contain {1}.',
  placeholders: '{0} must have the placeholders of the text it replaces: {1}.',
  mustBeEmpty: '{0} must be empty here.',
  leftOut: '{1} stands for a value that the export left out; it cannot be imported.',
  notAllowed: 'You may not change rows whose {0} is {1}.',
  locked: '{0} "{1}" is locked at the level {2}.',
  id: '{0} must be the id of a row as an export wrote it, or empty.',
  unknownId: 'There is no row with this Id.',
  otherKey: 'The row with this Id has another {1}, which an import does not change.',
  unknownReference: '{0} "{1}" is not known.',
  ambiguousReference: '{0} "{1}" stands for more than one.',
  duplicateKey: 'Row {1} of this file has the same {2} as row {3}.',
  quotaExceeded: 'Your tenant has as many rows of this kind as its quota allows.',
  unique: 'Another row has this value already, where each may have it once.',
  reference: 'It refers to something that does not exist.',
  constraint: 'The database does not accept this row.',
  unclosedQuote: 'A quote is opened and never closed.',
  recordLength: 'The row is longer than a row may be.',
  tooManyColumns: 'The row has more columns than a file may have.',
  tooManyCells: 'The row has more cells than the header has columns.',
  endMissing:
    'A text of the row is as long as one in a workbook can be, so that its end may be missing. Import it as a text file.',
  errorCell: '{0} holds {1}, an error of the workbook, instead of a value.',
  encoding: 'The row holds bytes that are no text in the encoding of the file.',
} as const;

/** The keys of the messages above. */
export type RowMessageKey = keyof typeof rowMessages;

/** One of the messages above with its values, from `{1}` on. */
export interface RowMessage {
  key: RowMessageKey;
  args: string[];
}

/** Makes a row message from a key and its values. */
export const rowMessage = (key: RowMessageKey, ...args: (string | number)[]): RowMessage => ({
  key,
  args: args.map(String),
});

/** The message in English. */
export const inEnglish = ({ key, args }: RowMessage, column = ''): string =>
  formatMessage(rowMessages[key], [column, ...args], { culture: 'en' });
