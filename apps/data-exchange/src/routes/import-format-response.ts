import type { FileFormat } from '../formats/file-format';

export const toFormatResponse = (format: FileFormat) => ({
  kind: format.kind,
  dateOrder: format.dateOrder ?? null,
  dateOrderFrom: format.dateOrderFrom ?? null,
  ...(format.kind === 'csv'
    ? {
        encoding: format.encoding,
        hasByteOrderMark: format.hasByteOrderMark,
        delimiter: format.delimiter,
        headerRow: format.headerRow ?? 1,
        quote: format.quote ?? '"',
        findings: format.findings ?? [],
        decimalSeparator: format.decimalSeparator ?? '.',
        sheets: null,
        sheet: null,
      }
    : {
        encoding: null,
        hasByteOrderMark: null,
        delimiter: null,
        headerRow: null,
        quote: null,
        findings: [],
        decimalSeparator: null,
        sheets: format.sheets ?? null,
        sheet: format.sheet ?? format.sheets?.[0] ?? null,
      }),
});
