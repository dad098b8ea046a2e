import type { z } from 'zod';
import { QuoteEscape, type ImportFormatFindings } from '@plinth/contracts/data-exchange/shapes';
import type { DateFormat, FileFormat } from '../formats/file-format';
import { headerOf } from '../formats/read-csv';
import { datesOfSheet, usualSheet } from '../formats/sheet-dates';

export const toFormatResponse = (format: FileFormat, findings: z.infer<typeof ImportFormatFindings>) => ({
  kind: format.kind,
  ...toDatesResponse(format.kind === 'csv' ? format : datesOfSheet(format)),
  ...(format.kind === 'csv'
    ? {
        encoding: format.encoding,
        hasByteOrderMark: format.hasByteOrderMark,
        delimiter: format.delimiter,
        headerRow: format.headerRow ?? 1,
        headerRows: headerOf(format).headerRows,
        lastRow: format.lastRow ?? 0,
        quote: format.quote ?? '"',
        escape: format.escape ?? QuoteEscape.Doubled,
        findings,
        decimalSeparator: format.decimalSeparator ?? '.',
        sheets: null,
        sheet: null,
      }
    : {
        encoding: null,
        hasByteOrderMark: null,
        delimiter: null,
        headerRow: format.headerRow ?? null,
        headerRows: format.headerRows ?? null,
        lastRow: format.lastRow ?? null,
        quote: null,
        escape: null,
        findings: [],
        decimalSeparator: null,
        sheets: format.sheets ?? null,
        sheet: usualSheet(format) ?? null,
      }),
});

const toDatesResponse = ({ dateOrder, dateOrderFrom }: DateFormat) => ({
  dateOrder: dateOrder ?? null,
  dateOrderFrom: dateOrderFrom ?? null,
});
