import { correctionColumns, correctionHeaders } from '@plinth/contracts/data-exchange/correction-file';
import type { FormatCorrection, ImportFormat } from '../api/data-exchange';
import { csvOf } from './csv';

const CORRECTED = /_(corrected|errors)\.[^.]{1,5}$/;

/** What a file of rows that were corrected by hand is called, after the file that they come from. */
export const correctedName = (fileName: string): string =>
  `${fileName.replace(CORRECTED, '').replace(/\.[^.]{1,5}$/, '')}_corrected.csv`;

/** Whether a file is named as one of corrected rows, or as a correction file that was downloaded. */
export const isNamedCorrected = (fileName: string): boolean => CORRECTED.test(fileName);

/**
 * Corrected rows as a correction file of their upload: data exchange reads it as it read the upload, with its numbers,
 * dates and currency, which few rows may not show. A workbook has no such format, and its rows are a file of their own.
 * Cells that no column is above stay, and their row is refused again: nobody saw them.
 */
export function correctionsOf(
  { delimiter }: { delimiter: string | null },
  headers: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  if (delimiter === null) return csvOf([headers, ...rows]);
  const kept = correctionColumns(headers);
  const records = rows.map((cells) => [
    ...kept.map((index) => cells[index] ?? ''),
    '',
    ...cells.slice(headers.length),
  ]);
  return csvOf([correctionHeaders(headers), ...records], delimiter);
}

/**
 * What has to be corrected where corrected rows were not found to be as their upload was. Nothing else is said: a dot that
 * is said differs from one that nothing showed, as it has digits grouped.
 */
export function correctedFormat(
  upload: Pick<ImportFormat, 'decimalSeparator' | 'dateOrder'>,
  found: Pick<ImportFormat, 'decimalSeparator' | 'dateOrder'>,
): FormatCorrection {
  const { decimalSeparator, dateOrder } = upload;
  const isSeparator = decimalSeparator === '.' || decimalSeparator === ',';
  return {
    ...(isSeparator && decimalSeparator !== found.decimalSeparator ? { decimalSeparator } : {}),
    ...(dateOrder && dateOrder !== found.dateOrder ? { dateOrder } : {}),
  };
}
