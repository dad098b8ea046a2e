export type TextEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

/** What was found out about the text of an upload; kept with the job, and what its correction file is written in. */
export interface CsvFormat {
  kind: 'csv';
  encoding: TextEncoding;
  hasByteOrderMark: boolean;
  delimiter: string;
  /** Lines end with a lone CR. */
  endsWithCr: boolean;
  /** Some bytes are no characters of the encoding: the cells they are in cannot be imported. */
  hasInvalidBytes: boolean;
}

export interface XlsxFormat {
  kind: 'xlsx';
}

export type FileFormat = CsvFormat | XlsxFormat;
