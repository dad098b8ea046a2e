import type { CsvFormat } from '../src/formats/file-format';

/** How a text file of the usual kind is read. */
export const plainFormat: CsvFormat = {
  kind: 'csv',
  encoding: 'utf-8',
  hasByteOrderMark: false,
  delimiter: ',',
  endsWithCr: false,
  hasInvalidBytes: false,
};
