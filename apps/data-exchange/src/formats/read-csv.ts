import type { Readable } from 'node:stream';
import { CsvReader, type FileRecord } from './csv-reader';
import type { CsvFormat } from './file-format';
import { unguard } from './formula-guard';
import { decodeText } from './text-stream';

/** Why a row cannot be read: errors of its record, too many cells, or invalid bytes. */
export type RowErrorReason = NonNullable<FileRecord['error']> | 'too-many-cells' | 'invalid-bytes';

/** A data row of a file: its cells are in the order of the header and may be fewer. */
export interface FileRow {
  number: number;
  cells: string[];
  error?: RowErrorReason;
}

export interface FileRows {
  /** Names of the columns; each is there once. */
  headers: string[];
  /** Rows in pieces, in their order. */
  rows: AsyncGenerator<FileRow[]>;
  /** Bytes of the file that are read. */
  bytesRead(): number;
  /** Closes the file, whether or not its rows were read. */
  close(): Promise<void>;
}

/** A range of a file that does not begin with the header. */
export interface LaterRange {
  headers: string[];
  recordsBefore: number;
}

/** Opens a text file as rows below a header. Only the piece that is being read is in memory. */
export async function readCsv(bytes: Readable, format: CsvFormat, later?: LaterRange): Promise<FileRows> {
  let bytesRead = 0;
  bytes.on('data', (chunk: Buffer) => {
    bytesRead += chunk.length;
  });
  bytes.pause();
  const pieces = recordPieces(bytes, format, later?.recordsBefore);
  const below = (headers: string[], rest: FileRecord[]): FileRows => ({
    headers,
    rows: dataRows(rest, pieces, headers.length, format),
    bytesRead: () => bytesRead,
    close: async () => void bytes.destroy(),
  });
  if (later) return below(later.headers, []);
  const { header, rest } = await skipToHeader(pieces, format);
  const names = (header?.cells ?? []).map(unguard);
  const width = Math.max(names.length, format.columnCount ?? 0);
  return below(uniqueHeaders(Array.from({ length: width }, (_, index) => names[index] ?? '')), rest);
}

/** The header and what is read of the rows below it; without a header the first row says how many columns there are. */
async function skipToHeader(
  pieces: AsyncGenerator<FileRecord[]>,
  { headerRow = 1, rowsBegin = 1 }: CsvFormat,
): Promise<{ header?: FileRecord; rest: FileRecord[] }> {
  const hasHeader = headerRow > 0;
  for (let piece = await pieces.next(); !piece.done; piece = await pieces.next()) {
    const rest = piece.value.filter(({ number }) => number >= (hasHeader ? headerRow : rowsBegin));
    if (rest.length === 0) continue;
    const [first, ...others] = rest;
    if (hasHeader) return { header: first!, rest: others };
    return { header: { ...first!, cells: first!.cells.map(() => '') }, rest };
  }
  return { rest: [] };
}

async function* recordPieces(
  bytes: Readable,
  format: CsvFormat,
  recordsBefore = 0,
): AsyncGenerator<FileRecord[]> {
  const reader = new CsvReader({ ...format, recordsBefore });
  const isStart = recordsBefore === 0;
  try {
    for await (const text of decodeText(bytes, format.encoding, { isStart })) yield reader.push(text);
    yield reader.end();
  } finally {
    bytes.destroy();
  }
}

async function* dataRows(
  rest: FileRecord[],
  pieces: AsyncGenerator<FileRecord[]>,
  columns: number,
  { hasInvalidBytes }: CsvFormat,
): AsyncGenerator<FileRow[]> {
  const toRow = (record: FileRecord): FileRow => {
    const row: FileRow = record;
    for (let index = 0; index < row.cells.length; index++) row.cells[index] = unguard(row.cells[index]!);
    if (row.error) return row;
    if (record.cells.length > columns) row.error = 'too-many-cells';
    else if (hasInvalidBytes && record.cells.some((cell) => cell.includes('\ufffd')))
      row.error = 'invalid-bytes';
    return row;
  };
  try {
    if (rest.length > 0) yield rest.map(toRow);
    for await (const records of pieces) if (records.length > 0) yield records.map(toRow);
  } finally {
    await pieces.return(undefined);
  }
}

/** Headers that are unique: a repeated one gets ` (2)`, one without a name gets its position. */
export function uniqueHeaders(headers: readonly string[]): string[] {
  const taken = new Set<string>();
  return headers.map((header, index) => {
    const name = header.trim() || `Column ${index + 1}`;
    let unique = name;
    for (let count = 2; taken.has(unique); count++) unique = `${name} (${count})`;
    taken.add(unique);
    return unique;
  });
}
