import type { ImportFormatFinding } from '@plinth/contracts/data-exchange/format-findings';
import type {
  DateOrder,
  DateOrderFrom,
  QuoteEscape,
  TextEncoding,
} from '@plinth/contracts/data-exchange/shapes';

/** The order of dates beside ISO 8601, and where it comes from; absent in files without dates. */
export interface DateFormat {
  dateOrder?: DateOrder | undefined;
  dateOrderFrom?: DateOrderFrom | undefined;
}

/** Something unusual about a file, with the values of its explanation. */
export interface LayoutFinding {
  code: ImportFormatFinding;
  args: string[];
}

/** Where the rows of a text file are, where it differs from a header in the first row and `"` around cells. */
export interface CsvLayout {
  /** The number of the record with the header; 0 where there is none. */
  headerRow?: number | undefined;
  /** How many rows the header has, where that is more than one. */
  headerRows?: number | undefined;
  /** Without a header: the number of the first row. */
  rowsBegin?: number | undefined;
  /** The number of the last row of the table, where something else follows. */
  lastRow?: number | undefined;
  /** The cells of most rows. */
  columnCount?: number | undefined;
  quote?: '"' | "'" | undefined;
  escape?: QuoteEscape | undefined;
  /** Blanks behind a delimiter are no part of a cell. */
  skipsBlanks?: boolean | undefined;
  findings?: LayoutFinding[] | undefined;
}

/** The detected format of a text file. It is stored with the job, and its correction file has the same. */
export interface CsvFormat extends DateFormat, CsvLayout {
  kind: 'csv';
  encoding: TextEncoding;
  hasByteOrderMark: boolean;
  delimiter: string;
  /** Lines end with a lone CR. */
  endsWithCr: boolean;
  /** Some bytes are no characters of the encoding: their cells cannot be imported. */
  hasInvalidBytes: boolean;
  /** Absent: a dot, and digits are not grouped. */
  decimalSeparator?: '.' | ',' | undefined;
  /** Somebody said which it is, so that no other layout of the file changes it. */
  isSeparatorNamed?: boolean | undefined;
  /** Some numbers have the other sign before their decimals: a lone one before three digits is not read then. */
  hasOtherDecimals?: boolean | undefined;
  /** Positions of columns of which the same holds, whatever other columns show. */
  unclearColumns?: number[] | undefined;
  /** The only currency of the file, with all numbers of its columns but zeros. */
  currency?: string | undefined;
}

export interface XlsxFormat extends DateFormat {
  kind: 'xlsx';
  /** Names of the sheets, in their order. */
  sheets?: string[] | undefined;
  /** The sheet that is read; the first one unless named, as it is where that one is hidden. */
  sheet?: string | undefined;
  /** The number of the row of that sheet with the header, 0 where there is none; found in its first rows unless named. */
  headerRow?: number | undefined;
  /** How many rows its header has, and the last row that is read, 0 for all; found as well unless named. */
  headerRows?: number | undefined;
  lastRow?: number | undefined;
  /** How dates are written that are texts, as it was found in each sheet; an order beside it is what somebody said of all. */
  foundDates?: { sheet?: string | undefined; dates: DateFormat }[] | undefined;
}

export type FileFormat = CsvFormat | XlsxFormat;
