import type { DateOrder, DateOrderFrom, TextEncoding } from '@plinth/contracts/data-exchange/shapes';

/** How the cells of a file write dates beside ISO 8601, and who says so; absent in files that write none. */
export interface DateFormat {
  dateOrder?: DateOrder | undefined;
  dateOrderFrom?: DateOrderFrom | undefined;
}

/** What was found out about the text of an upload; kept with the job, and what its correction file is written in. */
export interface CsvFormat extends DateFormat {
  kind: 'csv';
  encoding: TextEncoding;
  hasByteOrderMark: boolean;
  delimiter: string;
  /** Lines end with a lone CR. */
  endsWithCr: boolean;
  /** Some bytes are no characters of the encoding: the cells they are in cannot be imported. */
  hasInvalidBytes: boolean;
  /** Absent: a dot. */
  decimalSeparator?: '.' | ',' | undefined;
}

export interface XlsxFormat extends DateFormat {
  kind: 'xlsx';
  /** Names of the sheets, in their order. */
  sheets?: string[] | undefined;
  /** The sheet that is read; the first one where none is named. */
  sheet?: string | undefined;
}

export type FileFormat = CsvFormat | XlsxFormat;
