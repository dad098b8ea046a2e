import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { open, rm, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { inFollowingTurns } from '@plinth/exchange/in-turns';
import { CELL_LENGTH_MAX } from '@plinth/exchange/workbook/cell-xml';
import { unavailable } from '@plinth/kernel/problem';
import { newId } from '@plinth/kernel/uuid';
import { isBlank } from './cell-kind';
import { COLUMNS_MAX } from './csv-reader';
import { isRepeatedHeader, uniqueHeaders } from './header-names';
import { InterruptedReading } from './interrupted-reading';
import type { XlsxFormat } from './file-format';
import type { FileRow, FileRows } from './read-csv';
import { tableOfSheet, type SheetTable } from './sheet-table';
import { UnreadableFile } from './unreadable-file';
import {
  SCRATCH_FAILED_EXIT_CODE,
  UNREADABLE_EXIT_CODE,
  type ReaderLine,
  type ReaderPiece,
  type ReaderTask,
} from './workbook/reader-protocol';
import type { SheetRow } from './workbook/sheet-rows';
import { workbookReaderProgram } from './workbook-reader-program';

const MEMORY_MEGABYTES_MAX = 160;
/** Of each of three parts. A workbook with millions of texts takes half of the memory with it, and a third more time. */
const YOUNG_MEGABYTES_MAX = 4;
/** From so many rows it is found out where the table is; they are in memory. */
const HEAD_ROWS = 1_000;
const HEAD_CELLS_MAX = 50_000;
const HEAD_LENGTH_MAX = 4_000_000;
/** The longest time that a workbook may take for its next rows. */
const SILENCE_MILLISECONDS_MAX = 60_000;
/** Before the message, Node writes the line of the program that threw it. */
const REASON_LENGTH_MAX = 2_000;
/** Of Node, where nobody caught an error. */
const UNCAUGHT_EXIT_CODE = 1;

/** What its process may read: the program, and its parser of XML. */
const readable = [
  workbookReaderProgram,
  ...['saxes', 'xmlchars'].map((name) => require.resolve(`${name}/package.json`)),
].map((file) => dirname(file));

export interface WorkbookReading {
  /** Ends the process that reads it, which may go on for minutes without a row. */
  signal?: AbortSignal | undefined;
  /** Is called once its files are gone, however its reading ended. */
  onEnd?: () => void;
}

/** Opens one sheet of a workbook as rows below a header: the named one, else the first. */
export async function readXlsx(
  bytes: Readable,
  { sheet, ...named }: Omit<XlsxFormat, 'kind'>,
  reading: WorkbookReading = {},
): Promise<FileRows> {
  let share = 0;
  let sizeBytes = 0;
  const pieces = readInChild(bytes, sheet, (size) => (sizeBytes = size), reading);
  const noted = async function* () {
    for await (const piece of pieces) {
      ({ share } = piece);
      yield piece.rows;
    }
  };
  const rows = noted();
  const { first, further, isWhole } = await firstRows(rows, named.headerRow);
  const table = await inFollowingTurns(tableOfSheet(first, named, isWhole));
  const { names, headerRow, headerRows, lastRow, findings } = table;
  if (names.length > COLUMNS_MAX) {
    await rows.return(undefined);
    throw new UnreadableFile(`The header has more than ${COLUMNS_MAX} columns.`);
  }
  const headers = uniqueHeaders(names);
  return {
    headers,
    headerRow,
    headerRows,
    lastRow,
    findings,
    rows: dataRows({ ...table, rest: [...table.rest, ...further] }, rows, headers),
    bytesRead: () => Math.round(share * sizeBytes),
    close: async () => void (await rows.return(undefined)),
  };
}

/** The first rows, not those above a row that is named, and what further ones their last piece has. */
async function firstRows(
  pieces: AsyncGenerator<SheetRow[]>,
  headerRow = 0,
): Promise<{ first: SheetRow[]; further: SheetRow[]; isWhole: boolean }> {
  const first: SheetRow[] = [];
  const further: SheetRow[] = [];
  let [cells, length] = [0, 0];
  const isFull = () => first.length >= HEAD_ROWS || cells >= HEAD_CELLS_MAX || length >= HEAD_LENGTH_MAX;
  while (!isFull()) {
    const { done, value } = await pieces.next();
    if (done) return { first, further, isWhole: true };
    for (const row of value) {
      if (row[0] < headerRow) continue;
      if (isFull()) {
        further.push(row);
        continue;
      }
      first.push(row);
      cells += row[1].length;
      for (const cell of row[1]) length += cell.length;
    }
  }
  return { first, further, isWhole: false };
}

/** An export, like spreadsheets, cuts longer texts, one earlier where that would halve a character; others write them whole. */
const mayBeCut = ({ length }: string): boolean =>
  length === CELL_LENGTH_MAX || length === CELL_LENGTH_MAX - 1;

async function* dataRows(
  { names, headerRow, lastRow, rest }: SheetTable,
  pieces: AsyncGenerator<SheetRow[]>,
  headers: readonly string[],
): AsyncGenerator<FileRow[]> {
  const header = names.map((name) => name.trim());
  const last = lastRow || Infinity;
  const isRow = ([number, cells]: SheetRow): boolean =>
    number <= last && !(headerRow > 0 && isRepeatedHeader(cells, header));
  const toRow = ([number, cells, errors]: SheetRow): FileRow => {
    const row: FileRow = { number, cells };
    if (headers.length > 1 && isBlank(cells)) row.isBlank = true;
    if (cells.length > headers.length) row.error = 'too-many-cells';
    else {
      if (cells.some(mayBeCut))
        row.cutCells = cells.flatMap((cell, position) => (mayBeCut(cell) ? [position] : []));
      if (errors)
        row.errorCells = errors.flatMap((position) => {
          const [column, error] = [headers[position], cells[position]];
          return column === undefined || error === undefined ? [] : [{ position, column, error }];
        });
    }
    return row;
  };
  try {
    for (let rows: SheetRow[] | undefined = rest; rows !== undefined;) {
      const piece = rows.filter(isRow).map(toRow);
      if (piece.length > 0) yield piece;
      if ((rows.at(-1)?.[0] ?? 0) >= last) break;
      const next = await pieces.next();
      rows = next.done ? undefined : next.value;
    }
  } finally {
    await pieces.return(undefined);
  }
}

/** Reads a workbook in a process of its own, which is killed when it exceeds its limits or the rows are no longer read. */
async function* readInChild(
  bytes: Readable,
  sheet: string | undefined,
  noteSize: (sizeBytes: number) => void,
  { signal, onEnd }: WorkbookReading,
): AsyncGenerator<ReaderPiece> {
  const files: FileHandle[] = [];
  let child: ChildProcess | undefined;
  const end = () => void child?.kill('SIGKILL');
  signal?.addEventListener('abort', end, { once: true });
  try {
    for (let count = 0; count < 2; count++) files.push(await openNameless());
    const [workbook, scratch] = files as [FileHandle, FileHandle];
    for await (const chunk of bytes as AsyncIterable<Buffer>)
      await workbook.appendFile(chunk).catch(temporaryFilesFailed);
    const { size: sizeBytes } = await workbook.stat();
    noteSize(sizeBytes);
    signal?.throwIfAborted();
    child = startReader({ sheet, sizeBytes, columnsMax: COLUMNS_MAX }, [workbook.fd, scratch.fd]);
    yield* piecesOf(child);
  } finally {
    signal?.removeEventListener('abort', end);
    end();
    bytes.destroy();
    for (const file of files) await file.close().catch(() => undefined);
    if (child) await hasEnded(child);
    onEnd?.();
  }
}

/** Its files have no name, and are there until it has ended. */
async function hasEnded(child: ChildProcess): Promise<void> {
  const isRunning = child.pid !== undefined && child.exitCode === null && child.signalCode === null;
  if (isRunning) await once(child, 'exit').catch(() => undefined);
}

/** A file without a name: it is deleted when the last process that has it open ends. */
async function openNameless(): Promise<FileHandle> {
  const path = join(tmpdir(), `plinth-workbook-${newId()}`);
  const file = await open(path, 'wx+', 0o600).catch(temporaryFilesFailed);
  await rm(path);
  return file;
}

/** The disk of this process is full or broken, which says nothing of the workbook. */
function temporaryFilesFailed(error: unknown): never {
  throw unavailable('There is no room to read workbooks just now; try again.', error);
}

const startReader = (task: ReaderTask, files: [number, number]): ChildProcess =>
  spawn(
    process.execPath,
    [
      '--no-warnings',
      `--max-old-space-size=${MEMORY_MEGABYTES_MAX}`,
      `--max-semi-space-size=${YOUNG_MEGABYTES_MAX}`,
      '--permission',
      ...readable.map((folder) => `--allow-fs-read=${folder}`),
      workbookReaderProgram,
      JSON.stringify(task),
    ],
    // Nothing of this process's environment is the child's business.
    { stdio: ['ignore', 'pipe', 'pipe', ...files], env: {} },
  );

/** What a reader writes. @throws `UnreadableFile`, or another error where it ends before the last row of the sheet. */
export async function* piecesOf(child: ChildProcess): AsyncGenerator<ReaderPiece> {
  // Not `exit`, after which its reason may still be on its way.
  const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  // Where the process cannot start, its output ends first, and the reason is thrown below.
  closed.catch(() => undefined);
  let reason = '';
  child.stderr!.on('data', (chunk: Buffer) => {
    reason = (reason + chunk.toString()).slice(0, REASON_LENGTH_MAX);
  });
  // While rows are being stored it waits for us, not we for it.
  let isStoring = false;
  let isSilent = false;
  const silence: NodeJS.Timeout = setTimeout(() => {
    if (isStoring) return void silence.refresh();
    isSilent = true;
    child.kill('SIGKILL');
  }, SILENCE_MILLISECONDS_MAX);
  let isWhole = false;
  try {
    for await (const text of linesOf(child.stdout!)) {
      const line = JSON.parse(text) as ReaderLine;
      isStoring = true;
      if (line === 'end') isWhole = true;
      else yield line;
      isStoring = false;
      silence.refresh();
    }
    const [code, signal] = await closed;
    if (code === UNREADABLE_EXIT_CODE) throw new UnreadableFile(reason);
    if (code === SCRATCH_FAILED_EXIT_CODE)
      temporaryFilesFailed(new Error('The scratch file was not written.'));
    if (signal === 'SIGKILL' && !isSilent && !isWhole) throw new InterruptedReading();
    if (hasFailed(code, reason) && !isWhole) throw new Error(`The reader of workbooks failed: ${reason}`);
    if (code !== 0 && !isWhole)
      throw new UnreadableFile('The workbook needs more memory or time than a workbook may.');
    if (!isWhole) throw new Error('The reader of the workbook ended before the last row.');
  } finally {
    clearTimeout(silence);
  }
}

/**
 * Whether its program threw what it did not expect, so that no workbook could be read. V8 throws RangeError where a text or a
 * buffer would be too long, which is of the workbook.
 */
const hasFailed = (code: number | null, reason: string): boolean =>
  code === UNCAUGHT_EXIT_CODE && !reason.includes('RangeError');

/** Lines as they were written; Node's readline ends them at U+2028 too, which cells may contain. */
async function* linesOf(output: Readable): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of output.setEncoding('utf8') as AsyncIterable<string>) {
    const end = chunk.lastIndexOf('\n');
    if (end < 0) {
      rest += chunk;
      continue;
    }
    yield* (rest + chunk.slice(0, end)).split('\n');
    rest = chunk.slice(end + 1);
  }
}
