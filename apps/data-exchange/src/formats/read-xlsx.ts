import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import type { Readable } from 'node:stream';
import { COLUMNS_MAX, UnreadableFile } from './csv-reader';
import { uniqueHeaders, type FileRow, type FileRows } from './read-csv';
import { xlsxChildProgram } from './xlsx-child';

const MEMORY_MEGABYTES_MAX = 512;
/** A workbook that gives no row for so long is given up. */
const SILENCE_MILLISECONDS_MAX = 60_000;
const ROWS_AT_ONCE = 500;

interface SheetRow {
  sheet: string;
  number: number;
  cells: string[];
}

/** Opens one sheet of a workbook as rows below a header: the named one, else the first. */
export async function readXlsx(bytes: Readable, sheetName: string | undefined): Promise<FileRows> {
  let bytesRead = 0;
  bytes.on('data', (chunk: Buffer) => {
    bytesRead += chunk.length;
  });
  bytes.pause();
  const rows = oneSheet(readInChild(bytes), sheetName);
  const first = await rows.next();
  if (first.done) {
    if (sheetName !== undefined)
      throw new UnreadableFile(`The workbook has no sheet "${sheetName}" with rows.`);
    return { headers: [], rows: emptyRows(), bytesRead: () => bytesRead };
  }
  const headers = uniqueHeaders(first.value.cells);
  return { headers, rows: inPieces(rows, headers.length), bytesRead: () => bytesRead };
}

async function* emptyRows(): AsyncGenerator<FileRow[]> {}

async function* oneSheet(
  rows: AsyncGenerator<SheetRow>,
  wanted: string | undefined,
): AsyncGenerator<SheetRow> {
  let current: string | undefined;
  try {
    for await (const row of rows) {
      if (wanted !== undefined && row.sheet !== wanted) continue;
      current ??= row.sheet;
      // Row 0 marks the end of a sheet.
      if (row.number === 0 || row.sheet !== current) return;
      yield row;
    }
  } finally {
    await rows.return(undefined);
  }
}

async function* inPieces(rows: AsyncGenerator<SheetRow>, columns: number): AsyncGenerator<FileRow[]> {
  let piece: FileRow[] = [];
  for await (const { number, cells } of rows) {
    piece.push(cells.length > columns ? { number, cells, fault: 'too-many-cells' } : { number, cells });
    if (piece.length < ROWS_AT_ONCE) continue;
    yield piece;
    piece = [];
  }
  if (piece.length > 0) yield piece;
}

async function* readInChild(bytes: Readable): AsyncGenerator<SheetRow> {
  const child = spawn(
    process.execPath,
    [`--max-old-space-size=${MEMORY_MEGABYTES_MAX}`, '-e', xlsxChildProgram, __filename, String(COLUMNS_MAX)],
    // Nothing of this process's environment is the child's business.
    { stdio: ['pipe', 'pipe', 'pipe'], env: {} },
  );
  const exited = once(child, 'exit') as Promise<[number | null]>;
  let reason = '';
  child.stderr.on('data', (chunk: Buffer) => {
    reason = (reason + chunk.toString()).slice(0, 500);
  });
  const feeding = pipeline(bytes, child.stdin).catch(() => undefined);
  const silence = setTimeout(() => child.kill('SIGKILL'), SILENCE_MILLISECONDS_MAX);
  try {
    for await (const line of createInterface({ input: child.stdout, crlfDelay: Infinity })) {
      silence.refresh();
      const [sheet, number, cells] = JSON.parse(line) as [string, number, string[]];
      yield { sheet, number, cells };
    }
    const [code] = await exited;
    if (code !== 0) {
      throw new UnreadableFile(
        code === 3
          ? 'The workbook is damaged or is none.'
          : 'The workbook needs more memory or time than a workbook may.',
      );
    }
  } finally {
    clearTimeout(silence);
    child.kill('SIGKILL');
    bytes.destroy();
    await feeding;
  }
}
