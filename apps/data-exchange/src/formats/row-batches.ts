import { ROW_SEPARATOR } from '@plinth/exchange/in-turns';
import { errorMessage, shownValue, type FailedRow, type RowErrorDetail } from '@plinth/exchange/row-error';
import { rowMessage, type RowMessageKey } from '@plinth/exchange/row-message';
import type { FileRow, RowErrorReason } from './read-csv';

/** Rows of a file that become one transaction of the owner. */
export interface RowBatch {
  number: number;
  /** Without blank rows; there may be no other. */
  rowCount: number;
  firstRow: number;
  lastRow: number;
  /** Rows with their mapped cells, as JSON. */
  payload: Buffer;
  /** The numbers of rows that cannot be read, so the owner does not get them. */
  unreadableRows: readonly number[];
  /** What is wrong with one of these. It is made each time: that of thousands of rows takes tens of megabytes. */
  unreadableRow(rowNumber: number): FailedRow;
  /** Of the rows whose cells are only kept, as JSON. */
  keptLength: number;
  /** All cells of a row. Those of most rows are not needed again, so they are read from the payload. */
  cellsOf(rowNumber: number): RowCells;
}

/** The cells of a row of a file. */
interface RowCells {
  cells: string[];
  /** Where cells of a workbook hold errors of its formulas, if there are any. */
  errorCells?: number[];
}

type NumberedRow = [rowNumber: number, ...cells: string[]];

const ROWS_MAX = 4_000;
/** At most three bytes for each character, which fits into a gRPC message. */
const PAYLOAD_LENGTH_MAX = 1_000_000;
/**
 * Of the rows that are only kept, for the case that they fail, as JSON: those with columns that are not mapped, and
 * unreadable ones. An empty cell takes three characters of it, and a control character six.
 */
const KEPT_LENGTH_MAX = 2_000_000;

/**
 * Divides rows into numbered batches of mapped cells. The same file always gives the same batches, because a number
 * must mean the same rows however often they are read, and by whichever version: blank rows take room, though they are
 * neither sent nor counted. Batches up to `after` are skipped.
 * A batch contains bytes and no objects: it lives as long as its transaction, and the garbage collector would copy its
 * cells again and again.
 */
export async function* rowBatches(
  pieces: AsyncIterable<FileRow[]>,
  { positions, columnCount }: { positions: readonly number[]; columnCount: number },
  after = 0,
): AsyncGenerator<RowBatch> {
  const sendsAllCells =
    positions.length === columnCount && positions.every((position, index) => position === index);
  const mapped = new Set(positions);
  const isMapped = (position: number): boolean => mapped.has(position);
  let number = 1;
  let draft = new BatchDraft(sendsAllCells, isMapped);
  const next = (): BatchDraft => new BatchDraft(sendsAllCells, isMapped, draft.byteLength);
  for await (const piece of pieces) {
    for (const row of piece) {
      const unsent = unsentReasonOf(row, isMapped);
      const text = unsent ? '' : textOf(row, positions);
      const kept = unsent || !sendsAllCells ? JSON.stringify([row.number, ...row.cells]) : '';
      if (draft.isFullFor(text, kept)) {
        if (number > after) yield draft.finish(number);
        number++;
        draft = next();
      }
      if (row.isBlank) draft.pass(row.number, text, kept);
      else draft.add(row, unsent, text, kept);
    }
  }
  if (!draft.isEmpty && number > after) yield draft.finish(number);
}

class BatchDraft {
  private rowCount = 0;
  private blankRows = 0;
  private firstRow = 0;
  private lastRow = 0;
  private length = 0;
  private keptLength = 0;
  private readonly sent: JsonRows;
  private readonly whole: JsonRows;
  private readonly readableRows: number[] = [];
  private readonly unreadableRows = new Map<number, UnsentReason>();
  /** As JSON, since a cell is a pointer of eight bytes even where it is empty. */
  private unreadableCells: JsonRows | undefined;
  /** Outside of the heap where there are many. */
  private readonly errorCells = new Map<number, Uint16Array>();
  /** What columns with such cells are called. */
  private readonly errorColumns = new Map<number, string>();

  /** @param bytes of the batch before, which most are as large as */
  constructor(
    private readonly sendsAllCells: boolean,
    private readonly isMapped: (position: number) => boolean,
    bytes = 0,
  ) {
    this.sent = new JsonRows(bytes);
    this.whole = sendsAllCells ? this.sent : new JsonRows(bytes);
  }

  get byteLength(): number {
    return this.sent.length;
  }

  get isEmpty(): boolean {
    return this.rowCount + this.blankRows === 0;
  }

  isFullFor(text: string, kept: string): boolean {
    if (this.isEmpty) return false;
    return (
      this.rowCount + this.blankRows === ROWS_MAX ||
      this.length + text.length > PAYLOAD_LENGTH_MAX ||
      this.keptLength + kept.length > KEPT_LENGTH_MAX
    );
  }

  add(row: FileRow, unsent: UnsentReason | undefined, text: string, kept: string): void {
    this.reach(row.number);
    if (row.errorCells) {
      for (const { position, column } of row.errorCells) this.errorColumns.set(position, column);
      this.errorCells.set(
        row.number,
        Uint16Array.from(row.errorCells, ({ position }) => position),
      );
    }
    this.rowCount++;
    this.keptLength += kept.length;
    const reason = text.length > PAYLOAD_LENGTH_MAX ? 'too-long' : unsent;
    if (reason) {
      this.unreadableRows.set(row.number, reason);
      (this.unreadableCells ??= new JsonRows(0)).add(kept || text);
      return;
    }
    this.sent.add(text);
    this.length += text.length;
    this.readableRows.push(row.number);
    if (!this.sendsAllCells) this.whole.add(kept);
  }

  /** Takes the room of a row that is blank. */
  pass(number: number, text: string, kept: string): void {
    this.reach(number);
    this.blankRows++;
    this.keptLength += kept.length;
    if (text.length <= PAYLOAD_LENGTH_MAX) this.length += text.length;
  }

  private reach(number: number): void {
    if (this.isEmpty) this.firstRow = number;
    this.lastRow = number;
  }

  finish(number: number): RowBatch {
    const { rowCount, firstRow, lastRow, keptLength, unreadableCells, readableRows } = this;
    const payload = this.sent.end();
    const { whole, errorCells, errorColumns, isMapped } = this;
    const reasons = this.unreadableRows;
    const unreadableRows = [...reasons.keys()];
    const readable = textsOf(readableRows, whole);
    const unreadable = textsOf(unreadableRows, unreadableCells);
    const cellsOf = (rowNumber: number): RowCells => {
      const text = readable(rowNumber) ?? unreadable(rowNumber);
      const errors = errorCells.get(rowNumber);
      return {
        cells: text === undefined ? [] : cellsOfRow(text),
        ...(errors ? { errorCells: [...errors] } : {}),
      };
    };
    const unreadableRow = (rowNumber: number): FailedRow => {
      const reason = reasons.get(rowNumber)!;
      const details: RowErrorDetail[] = [];
      if (mayHaveErrorCells(reason)) {
        const { cells, errorCells: positions = [] } = cellsOf(rowNumber);
        for (const position of positions.filter(isMapped))
          details.push(errorOfCell(errorColumns.get(position)!, cells[position]!));
      }
      if (reason !== 'error-cells') details.push(errorOf(reason));
      return { rowNumber, kind: 'Conversion', details };
    };
    return {
      number,
      rowCount,
      firstRow,
      lastRow,
      payload,
      unreadableRows,
      unreadableRow,
      keptLength,
      cellsOf,
    };
  }
}

/** The texts of rows by their numbers, which are looked through when the first one is asked for. */
function textsOf(rowNumbers: readonly number[], rows: JsonRows | undefined) {
  let places: Map<number, number> | undefined;
  return (rowNumber: number): string | undefined => {
    places ??= new Map(rowNumbers.map((row, index) => [row, index]));
    const index = places.get(rowNumber);
    return index === undefined ? undefined : rows?.row(index);
  };
}

const cellsOfRow = (json: string): string[] => (JSON.parse(json) as NumberedRow).slice(1) as string[];

/** Room for batches that are larger than the one before. */
const SPARE_BYTES = 64 * 1024;

/** A JSON array that grows in place. */
class JsonRows {
  length = 0;
  private bytes: Buffer;
  /** Where each row ends. */
  private readonly ends: number[] = [];

  /** @param expected so many bytes; growing copies them and leaves memory to the collector */
  constructor(expected: number) {
    this.bytes = Buffer.allocUnsafe(expected + SPARE_BYTES);
  }

  add(text: string): void {
    // A character takes at most three bytes, and the separator and a bracket need room.
    if (this.length + text.length * 3 + 3 > this.bytes.length) {
      const needed = this.length + Buffer.byteLength(text) + 3;
      if (needed > this.bytes.length)
        this.bytes = Buffer.concat([this.bytes], Math.max(needed, this.bytes.length * 2));
    }
    this.length += this.bytes.write(this.length === 0 ? '[' : ROW_SEPARATOR, this.length, 'latin1');
    this.length += this.bytes.write(text, this.length);
    this.ends.push(this.length);
  }

  /** A row, counted from 0. */
  row(index: number): string {
    const start = index === 0 ? 1 : this.ends[index - 1]! + ROW_SEPARATOR.length;
    return this.bytes.toString('utf8', start, this.ends[index]);
  }

  end(): Buffer {
    if (this.length === 0) return Buffer.from('[]');
    return this.bytes.subarray(0, this.length + this.bytes.write(']', this.length, 'latin1'));
  }
}

function textOf({ number, cells }: FileRow, positions: readonly number[]): string {
  const values: (number | string)[] = [number];
  for (const position of positions) values.push(cells[position] ?? '');
  return JSON.stringify(values);
}

/** Why the owner does not get a row: it cannot be read, or a cell that is mapped has no value or may have lost its end. */
function unsentReasonOf(row: FileRow, isMapped: (position: number) => boolean): UnsentReason | undefined {
  if (row.error) return row.error;
  if (row.cutCells?.some(isMapped)) return 'end-missing';
  return row.errorCells?.some(({ position }) => isMapped(position)) ? 'error-cells' : undefined;
}

type UnsentReason = RowErrorReason | 'end-missing' | 'error-cells';

/** A row whose end is missing may have cells with errors too. */
const mayHaveErrorCells = (reason: UnsentReason): boolean =>
  reason === 'error-cells' || reason === 'end-missing';

const messages: Record<Exclude<UnsentReason, 'error-cells'>, { code: string; text: RowMessageKey }> = {
  'unclosed-quote': { code: 'UnclosedQuote', text: 'unclosedQuote' },
  'too-long': { code: 'RecordLength', text: 'recordLength' },
  'too-many-columns': { code: 'Columns', text: 'tooManyColumns' },
  'too-many-cells': { code: 'Columns', text: 'tooManyCells' },
  'end-missing': { code: 'EndMissing', text: 'endMissing' },
  'invalid-bytes': { code: 'Encoding', text: 'encoding' },
};

const errorOf = (reason: keyof typeof messages): RowErrorDetail => ({
  column: null,
  value: null,
  code: `Service:Conversion:${messages[reason].code}`,
  ...errorMessage(rowMessage(messages[reason].text)),
});

const errorOfCell = (column: string, error: string): RowErrorDetail => ({
  column,
  value: shownValue(error),
  code: 'Service:Conversion:ErrorCell',
  ...errorMessage(rowMessage('errorCell', shownValue(error)), column),
});
