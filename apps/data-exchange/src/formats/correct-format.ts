import type { Readable } from 'node:stream';
import type { DateOrder, QuoteEscape, TextEncoding } from '@plinth/contracts/data-exchange/shapes';
import { inFollowingTurns } from '@plinth/exchange/in-turns';
import { invalid } from '@plinth/kernel/problem';
import {
  cellFormatOf,
  contradictsDates,
  contradictsSeparator,
  EVIDENCE_LENGTH_MAX,
  EVIDENCE_ROWS_MAX,
  readEvidence,
  type CellEvidence,
} from './cell-evidence';
import type { CsvFormat, DateFormat, FileFormat, XlsxFormat } from './file-format';
import { filledRows, readCsv } from './read-csv';

/** The corrections of a detected format; what is absent stays as it is. */
export interface FormatCorrection {
  encoding?: TextEncoding | undefined;
  delimiter?: string | undefined;
  headerRow?: number | undefined;
  headerRows?: number | undefined;
  lastRow?: number | undefined;
  quote?: '"' | "'" | undefined;
  escape?: QuoteEscape | undefined;
  decimalSeparator?: '.' | ',' | undefined;
  dateOrder?: DateOrder | undefined;
  sheet?: string | undefined;
}

const layoutProperties = ['delimiter', 'headerRow', 'headerRows', 'lastRow', 'quote', 'escape'] as const;

/** What a correction is checked against. */
export interface CorrectionContext {
  open(): Promise<Readable>;
  cultureOf(): Promise<string>;
}

/** The corrected format. @throws Problem `invalid`: the file contradicts it. */
export const correctFormat = async (
  format: FileFormat,
  correction: FormatCorrection,
  context: CorrectionContext,
): Promise<FileFormat> =>
  format.kind === 'csv'
    ? correctText(format, withoutHeader(correction), context)
    : correctWorkbook(format, withoutHeader(correction));

/** A header of no rows is none, as previews say it. @throws Problem `invalid`: it stands in a row. */
function withoutHeader(correction: FormatCorrection): FormatCorrection {
  if (correction.headerRows !== 0) return correction;
  const { headerRows: _none, headerRow = 0, ...rest } = correction;
  if (headerRow !== 0) throw invalid({ headerRows: 'Range' }, `The header in row ${headerRow} has a row.`);
  return { ...rest, headerRow };
}

/** Whether the correction changes columns, not only cells. */
export const readsOtherColumns = (before: FileFormat, after: FileFormat): boolean =>
  before.kind === 'csv' && after.kind === 'csv'
    ? [...layoutProperties, 'encoding' as const, 'rowsBegin' as const].some(
        (property) => before[property] !== after[property],
      )
    : (['sheet', ...rowsOfSheet] as const).some(
        (property) => (before as XlsxFormat)[property] !== (after as XlsxFormat)[property],
      );

/** Where the table of a sheet is. */
const rowsOfSheet = ['headerRow', 'headerRows', 'lastRow'] as const;
const ofTextOnly = ['encoding', 'decimalSeparator', 'delimiter', 'quote', 'escape'] as const;

function correctWorkbook(format: XlsxFormat, correction: FormatCorrection): XlsxFormat {
  const { sheet, dateOrder } = correction;
  for (const property of ofTextOnly) {
    if (correction[property] !== undefined)
      throw invalid({ [property]: 'Format' }, `A workbook has no ${property}: its cells are typed.`);
  }
  if (sheet !== undefined && !format.sheets?.includes(sheet))
    throw invalid({ sheet: 'Enum' }, `The workbook has no sheet "${sheet}".`);
  const { headerRow: _headerRow, headerRows: _headerRows, lastRow: _lastRow, ...elsewhere } = format;
  const isOther = sheet !== undefined && sheet !== format.sheet;
  const given = rowsOfSheet.filter((property) => correction[property] !== undefined);
  const corrected: XlsxFormat = {
    ...(isOther || correction.headerRow !== undefined ? elsewhere : format),
    ...(sheet === undefined ? {} : { sheet }),
    ...Object.fromEntries(given.map((property) => [property, correction[property]])),
    ...withDateOrder(dateOrder),
  };
  requireOrder(corrected);
  return corrected;
}

async function correctText(
  format: CsvFormat,
  { encoding, decimalSeparator, dateOrder, sheet, ...layout }: FormatCorrection,
  { open, cultureOf }: CorrectionContext,
): Promise<CsvFormat> {
  if (sheet !== undefined) throw invalid({ sheet: 'Format' }, 'Text files have no sheets.');
  let corrected = withLayout(format, layout);
  if (encoding !== undefined && encoding !== format.encoding) {
    await requireEncoding(format, encoding, open);
    corrected = { ...withoutGuess(corrected), encoding, hasInvalidBytes: false };
  }
  const evidence = await sample(corrected, format, open);
  requireEvidence(evidence, decimalSeparator, dateOrder);
  // The evidence of wrongly split cells is worthless; earlier corrections stay.
  if (readsOtherColumns(format, corrected)) {
    const {
      decimalSeparator: _decimalSeparator,
      hasOtherDecimals: _hasOtherDecimals,
      unclearColumns: _unclearColumns,
      currency: _currency,
      ...layoutOnly
    } = corrected;
    corrected = { ...layoutOnly, ...(await cellFormatOf(evidence, cultureOf)) };
  }
  return {
    ...withSeparator(
      corrected,
      decimalSeparator ?? (format.isSeparatorNamed ? format.decimalSeparator : undefined),
    ),
    ...(format.dateOrderFrom === 'Caller' ? withDateOrder(format.dateOrder) : {}),
    ...withDateOrder(dateOrder),
  };
}

/** Whoever names the decimal separator says what dots of unclear columns are. */
function withSeparator(format: CsvFormat, decimalSeparator: '.' | ',' | undefined): CsvFormat {
  if (decimalSeparator === undefined) return format;
  const { unclearColumns: _unclearColumns, ...clear } = format;
  return { ...clear, decimalSeparator, isSeparatorNamed: true };
}

/**
 * A corrected layout; what was found of the detected one then no longer explains how the file is read. A header in
 * another row has one row and nothing below its table ends it, unless the correction says so too.
 */
function withLayout(
  format: CsvFormat,
  correction: Pick<FormatCorrection, (typeof layoutProperties)[number]>,
): CsvFormat {
  const given = Object.entries(correction).filter(([, value]) => value !== undefined);
  if (given.length === 0) return { ...format };
  const { columnCount: _columnCount, findings: _findings, rowsBegin, ...rest } = format;
  const { headerRow } = correction;
  const { headerRows: _headerRows, lastRow: _lastRow, ...elsewhere } = rest;
  const corrected: CsvFormat = {
    ...(headerRow === undefined ? rest : elsewhere),
    ...(rowsBegin === undefined || headerRow ? {} : { rowsBegin }),
    ...Object.fromEntries(given),
  };
  if (corrected.lastRow === 0) delete corrected.lastRow;
  requireOrder(corrected);
  return corrected;
}

/** @throws Problem `invalid`: the last row, where it is not the end of the file, stands above the header. */
function requireOrder({ lastRow, headerRow = 1 }: Pick<FileFormat, (typeof rowsOfSheet)[number]>): void {
  if (lastRow && lastRow < headerRow)
    throw invalid({ lastRow: 'Range' }, 'The last row stands above the header.');
}

function withoutGuess({ findings, ...format }: CsvFormat): CsvFormat {
  const others = (findings ?? []).filter(({ code }) => code !== 'Encoding');
  return others.length === 0 ? format : { ...format, findings: others };
}

const withDateOrder = (dateOrder: DateOrder | undefined): DateFormat =>
  dateOrder === undefined ? {} : { dateOrder, dateOrderFrom: 'Caller' };

/** Every byte of the whole file must be a character of the encoding; a wrong one may be in the last line. */
async function requireEncoding(
  { hasByteOrderMark, encoding: found }: CsvFormat,
  encoding: TextEncoding,
  open: () => Promise<Readable>,
): Promise<void> {
  if (hasByteOrderMark)
    throw invalid({ encoding: 'Format' }, `The file begins with the byte order mark of ${found}.`);
  const decoder = new TextDecoder(encoding, { fatal: true });
  const bytes = await open();
  try {
    for await (const chunk of bytes as AsyncIterable<Buffer>) decoder.decode(chunk, { stream: true });
    decoder.decode();
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_ENCODING_INVALID_ENCODED_DATA') throw error;
    throw invalid({ encoding: 'Format' }, `Some bytes of the file are no characters of ${encoding}.`);
  } finally {
    bytes.destroy();
  }
}

/** The evidence of the first rows in the corrected format. @throws Problem `invalid`: the delimiter is not in the header. */
async function sample(
  corrected: CsvFormat,
  { delimiter }: CsvFormat,
  open: () => Promise<Readable>,
): Promise<CellEvidence> {
  const { headers, rows } = await readCsv(await open(), corrected);
  const sampled: string[][] = [];
  let length = 0;
  let isWhole = true;
  for await (const piece of filledRows(rows)) {
    for (const { cells } of piece) {
      length += cells.reduce((sum, cell) => sum + cell.length, cells.length);
      isWhole = sampled.length < EVIDENCE_ROWS_MAX && length <= EVIDENCE_LENGTH_MAX;
      if (!isWhole) break;
      sampled.push(cells);
    }
    if (!isWhole) break;
  }
  if (headers.length === 0)
    throw invalid({ headerRow: 'Range' }, `The file has no row ${corrected.headerRow ?? 1}.`);
  if (corrected.delimiter !== delimiter && headers.length < 2)
    throw invalid(
      { delimiter: 'Format' },
      `The header has no ${JSON.stringify(corrected.delimiter)} between columns.`,
    );
  return inFollowingTurns(readEvidence(sampled, { isWhole, columnCount: headers.length }));
}

function requireEvidence(
  evidence: CellEvidence,
  decimalSeparator: '.' | ',' | undefined,
  dateOrder: DateOrder | undefined,
): void {
  if (decimalSeparator !== undefined && contradictsSeparator(evidence, decimalSeparator))
    throw invalid(
      { decimalSeparator: 'Format' },
      `No number of the first rows has decimals behind "${decimalSeparator}".`,
    );
  if (dateOrder !== undefined && contradictsDates(evidence, dateOrder))
    throw invalid(
      { dateOrder: 'Format' },
      `No date of the first rows can be read in the order ${dateOrder}.`,
    );
}
