/**
 * What may be unusual about a file, and why it is read so, in English. Data exchange localizes it by the texts of
 * the resource `DataExchange` under `findings`; they are ICU messages.
 */
export const formatFindings = {
  Preamble: 'Rows 1 to {0} are text above the table: they do not have the {1} cells of most rows.',
  NoHeader: 'Row {0} holds values of the same kind as the rows below it, so there is no header.',
  HeaderRows: 'The header has {0} rows, from row {1} on: the names of each column are joined.',
  RepeatedHeader: 'Row {0} is the header again; such rows are passed over.',
  WiderRows: 'The header has {0} cells and most rows have {1}.',
  Tables: 'Another table begins in row {0}; only the rows up to row {1} are read.',
  Totals:
    'From row {0} on there are totals of the table or lines that are ruled below it, which are not read.',
  Footnote: 'From row {0} on there is text below the table, which is not read.',
  Quote: 'Cells stand between single quotes.',
  Escape:
    '{0, select, Backslash {A backslash stands} Nul {A NUL character stands} other {Nothing stands}} before a quote that is part of a cell.',
  Blanks: 'A blank follows every delimiter; it is no part of the cells.',
  BlankDelimiter: 'Blanks stand between the cells.',
  Encoding: 'The letters of the file are most like {0}; bytes alone do not say which encoding they are in.',
} as const;

/** The code of something unusual about a file. */
export type ImportFormatFinding = keyof typeof formatFindings;
