import type { Readable } from 'node:stream';
import { inFollowingTurns } from '@plinth/exchange/in-turns';
import { unguard } from '@plinth/kernel/formula-guard';
import { isBlank } from './cell-kind';
import { COLUMNS_MAX, CsvReader, type FileRecord } from './csv-reader';
import type { CsvFormat, LayoutFinding } from './file-format';
import { isRepeatedHeader, joinHeaderRows, uniqueHeaders } from './header-names';
import { decodeText } from './text-stream';
import { UnreadableFile } from './unreadable-file';

/** Why a row cannot be read: errors of its record, too many cells, or invalid bytes. */
export type RowErrorReason = NonNullable<FileRecord['error']> | 'too-many-cells' | 'invalid-bytes';

/** A data row of a file: its cells are in the order of the header and may be fewer. */
export interface FileRow {
  number: number;
  cells: string[];
  error?: RowErrorReason;
  /** All of its cells are blank: it is no row, but a batch has room for it, as versions before gave it. */
  isBlank?: true;
  /** Where the texts of a workbook are whose end may be missing. */
  cutCells?: readonly number[];
  /** The cells of a workbook that hold an error of its formulas instead of a value. */
  errorCells?: readonly ErrorCell[];
}

export interface ErrorCell {
  position: number;
  /** The name of its column. */
  column: string;
  /** As spreadsheets show it, such as `#N/A`. */
  error: string;
}

export interface FileRows {
  /** Names of the columns; each is there once. */
  headers: string[];
  /** The number of the row with the header; 0 where there is none. */
  headerRow: number;
  /** How many rows the header has. */
  headerRows: number;
  /** The number of the last row that is read; 0 for the end of the file. */
  lastRow: number;
  /** What is unusual about the file. */
  findings: LayoutFinding[];
  /** Rows in pieces, in their order, blank ones included. */
  rows: AsyncGenerator<FileRow[]>;
  /** Bytes of the file that are read. */
  bytesRead(): number;
  /** Closes the file, whether or not its rows were read. */
  close(): Promise<void>;
}

/** The rows of a file without blank ones. */
export async function* filledRows(pieces: AsyncIterable<FileRow[]>): AsyncGenerator<FileRow[]> {
  for await (const piece of pieces) yield piece.filter(({ isBlank }) => !isBlank);
}

/** A range of a file that does not begin with the header. */
export interface LaterRange {
  headers: string[];
  recordsBefore: number;
}

/** Opens a text file as rows below a header. Only the piece that is being read is in memory. @throws UnreadableFile where the header has too many columns */
export async function readCsv(bytes: Readable, format: CsvFormat, later?: LaterRange): Promise<FileRows> {
  let bytesRead = 0;
  bytes.on('data', (chunk: Buffer) => {
    bytesRead += chunk.length;
  });
  bytes.pause();
  const pieces = recordPieces(bytes, format, later?.recordsBefore);
  const below = (headers: string[], rest: FileRecord[]): FileRows => ({
    headers,
    headerRow: format.headerRow ?? 1,
    headerRows: headerOf(format).headerRows,
    lastRow: format.lastRow ?? 0,
    findings: format.findings ?? [],
    rows: dataRows(rest, pieces, headers, format),
    bytesRead: () => bytesRead,
    close: async () => void bytes.destroy(),
  });
  if (later) return below(later.headers, []);
  const { names, rest } = await skipToHeader(pieces, format).catch(async (error: unknown) => {
    await pieces.return(undefined);
    throw error;
  });
  const width = Math.max(names.length, format.columnCount ?? 0);
  return below(uniqueHeaders(Array.from({ length: width }, (_, index) => names[index] ?? '')), rest);
}

/** The names of the header and what is read of the rows below it; without a header the first row says how many columns there are. */
async function skipToHeader(
  pieces: AsyncGenerator<FileRecord[]>,
  format: CsvFormat,
): Promise<{ names: string[]; rest: FileRecord[] }> {
  const { begin, headerRows } = headerOf(format);
  const records: FileRecord[] = [];
  for (let piece = await pieces.next(); !piece.done; piece = await pieces.next()) {
    for (const record of piece.value) if (record.number >= begin) records.push(record);
    if (records.length >= Math.max(1, headerRows)) break;
  }
  if (records.slice(0, Math.max(1, headerRows)).some(({ error }) => error === 'too-many-columns'))
    throw new UnreadableFile(`The header has more than ${COLUMNS_MAX} columns.`);
  const header = records.slice(0, headerRows).map(({ cells }) => cells.map(textOf));
  const names = headerRows > 0 ? joinHeaderRows(header) : (records[0]?.cells ?? []).map(() => '');
  return { names, rest: records.slice(headerRows) };
}

const EQUALS = '='.charCodeAt(0);

/** A cell without what only spreadsheets need: a guard against formulas, or the formula `="007"` that keeps its zeros. */
function textOf(cell: string): string {
  if (cell.charCodeAt(0) !== EQUALS) return unguard(cell);
  return /^="([^"]*)"$/.exec(cell)?.[1] ?? cell;
}

/** The number of the first record of the table, and how many of its records are the header. */
export const headerOf = ({
  headerRow = 1,
  headerRows = 1,
  rowsBegin = 1,
}: CsvFormat): { begin: number; headerRows: number } =>
  headerRow > 0 ? { begin: headerRow, headerRows } : { begin: rowsBegin, headerRows: 0 };

async function* recordPieces(
  bytes: Readable,
  format: CsvFormat,
  recordsBefore = 0,
): AsyncGenerator<FileRecord[]> {
  const reader = new CsvReader({ ...format, recordsBefore });
  const isStart = recordsBefore === 0;
  try {
    for await (const text of decodeText(bytes, format.encoding, { isStart }))
      yield await inFollowingTurns(reader.pushInSteps(text));
    yield await inFollowingTurns(reader.endInSteps());
  } finally {
    bytes.destroy();
  }
}

async function* dataRows(
  rest: FileRecord[],
  pieces: AsyncGenerator<FileRecord[]>,
  headers: readonly string[],
  { hasInvalidBytes, headerRow = 1, lastRow = Infinity }: CsvFormat,
): AsyncGenerator<FileRow[]> {
  const toRow = (record: FileRecord): FileRow => {
    const row: FileRow = record;
    for (let index = 0; index < row.cells.length; index++) row.cells[index] = textOf(row.cells[index]!);
    if (row.error) return row;
    if (headers.length > 1 && isBlank(record.cells)) row.isBlank = true;
    if (record.cells.length > headers.length) row.error = 'too-many-cells';
    else if (hasInvalidBytes && record.cells.some((cell) => cell.includes('\ufffd')))
      row.error = 'invalid-bytes';
    return row;
  };
  try {
    const isRow = ({ number, cells }: FileRecord): boolean =>
      number <= lastRow && !(headerRow > 0 && isRepeatedHeader(cells, headers));
    const toRows = (records: FileRecord[]): FileRow[] => records.filter(isRow).map(toRow);
    let last = rest.at(-1)?.number ?? 0;
    if (rest.length > 0) yield toRows(rest);
    while (last < lastRow) {
      const { value: records, done } = await pieces.next();
      if (done) break;
      last = records.at(-1)?.number ?? last;
      if (records.length > 0) yield toRows(records);
    }
  } finally {
    await pieces.return(undefined);
  }
}
