import type { DateOrder, DateOrderFrom, TextEncoding } from '@plinth/contracts/data-exchange/shapes';

/** The order of dates beside ISO 8601, and where it comes from; absent in files without dates. */
export interface DateFormat {
  dateOrder?: DateOrder | undefined;
  dateOrderFrom?: DateOrderFrom | undefined;
}

/** The detected format of a text file. It is stored with the job, and its correction file has the same. */
export interface CsvFormat extends DateFormat {
  kind: 'csv';
  encoding: TextEncoding;
  hasByteOrderMark: boolean;
  delimiter: string;
  /** Lines end with a lone CR. */
  endsWithCr: boolean;
  /** Some bytes are no characters of the encoding: their cells cannot be imported. */
  hasInvalidBytes: boolean;
  /** Absent: a dot. */
  decimalSeparator?: '.' | ',' | undefined;
}

export interface XlsxFormat extends DateFormat {
  kind: 'xlsx';
  /** Names of the sheets, in their order. */
  sheets?: string[] | undefined;
  /** The sheet that is read; the first one unless named. */
  sheet?: string | undefined;
}

export type FileFormat = CsvFormat | XlsxFormat;
