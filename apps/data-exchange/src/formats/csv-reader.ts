import type { QuoteEscape } from '@plinth/contracts/data-exchange/shapes';
import { UnreadableFile } from './unreadable-file';

/** One record of a file. Its number counts every record, the header and blank lines included. */
export interface FileRecord {
  number: number;
  cells: string[];
  /** Why the record cannot be read as it is. */
  error?: RecordError;
}

export type RecordError = 'unclosed-quote' | 'too-long' | 'too-many-columns';

/** What several readers may do together beyond reading each record once, in cells and quotes they come by. */
export interface StepBudget {
  left: number;
}

export interface CsvOptions {
  delimiter: string;
  /** The quote around cells; `"` unless given. */
  quote?: '"' | "'" | undefined;
  /** What stands before a quote inside a quoted cell; another quote unless given. */
  escape?: QuoteEscape | undefined;
  /** Blanks behind a delimiter are no part of a cell. */
  skipsBlanks?: boolean | undefined;
  /** The cells of most records. A quote that is never closed properly is read as text where the record then has as many. */
  columnCount?: number | undefined;
  /** Lines end with a lone CR, as old Macs wrote them; otherwise with LF or CRLF, mixed as they like. */
  endsWithCr?: boolean;
  /** Characters of one record. */
  recordLengthMax?: number;
  columnsMax?: number;
  /** Records of the file that another reader has. */
  recordsBefore?: number;
  /** Of readers that try how a file is read best; each has a limit of its own besides. */
  budget?: StepBudget | undefined;
}

export const RECORD_LENGTH_MAX = 1024 * 1024;
export const COLUMNS_MAX = 1_000;
/** Each one is scanned for up to the length of a record, so their number is limited. */
const UNCLOSED_QUOTES_MAX = 100;
/** Cells and quotes that those scans come by, of all of them: one may come by hundreds of thousands. */
const UNCLOSED_STEPS_MAX = 4_000_000;
const SKIPPED_TEXT_LENGTH_MAX = 1_000;
/** Cells and quotes that a reader comes by in one turn of the event loop, some milliseconds. */
const STEPS_PER_TURN = 50_000;

const LF = 10;
const CR = 13;
const SPACE = 32;
const INCOMPLETE = -1;
const NOWHERE = -1;
/** Quotes of one record that are tried as text. */
const MALFORMED_CELLS_MAX = 8;
/** Characters of a record that is read with a quote as text. */
const REPAIRED_LENGTH_MAX = 64 * 1024;
/**
 * Cells and quotes that records are read by in vain, before one of their quotes is taken for text, and how many more for
 * each character of the file: a record of ten characters may come by all quotes of the million that follow.
 */
const REPAIR_STEPS_MAX = 1_000_000;
const REPAIR_STEPS_PER_CHARACTER = 4;

const escapeCharacters: Record<QuoteEscape, string> = {
  Doubled: '',
  Backslash: '\\',
  Nul: '\0',
  None: '',
};

const tooManyQuotes = (): UnreadableFile =>
  new UnreadableFile('The file has too many quotes to find out what they mean.');

/**
 * Splits text into records, however the text is divided into chunks.
 * It reads well-formed files as papaparse does and the others so that one error costs one record: a quote that is never
 * closed loses its line, not the rest of the file (ADR 0014).
 */
export class CsvReader {
  private text = '';
  private ended = false;
  private number: number;
  private unclosedQuotes = 0;
  private unclosedSteps = 0;
  private repairSteps = 0;
  private repairStepsMax = REPAIR_STEPS_MAX;
  /** Cells and quotes that the record was read by so far, as often as it was. */
  private steps = 0;
  private isSkippingLine = false;
  private readonly delimiter: number;
  private readonly quote: string;
  private readonly quoteCode: number;
  private readonly isDoubled: boolean;
  /** Stands before quotes inside cells, where that is no quote. */
  private readonly escape: string;
  private readonly skipsBlanks: boolean;
  private readonly columnCount: number | undefined;
  private readonly endsWithCr: boolean;
  private readonly recordLengthMax: number;
  private readonly columnsMax: number;
  private readonly budget: StepBudget | undefined;
  /** Whether there may be more records in the text than were read last. */
  private isPaused = false;
  private cells: string[] = [];
  private isUnclosed = false;
  /** Where quoted cells begin that have quotes inside which are not escaped. */
  private malformed: number[] = [];

  constructor(options: CsvOptions) {
    this.delimiter = options.delimiter.charCodeAt(0);
    this.quote = options.quote ?? '"';
    this.quoteCode = this.quote.charCodeAt(0);
    this.isDoubled = (options.escape ?? 'Doubled') === 'Doubled';
    this.escape = escapeCharacters[options.escape ?? 'Doubled'];
    this.skipsBlanks = options.skipsBlanks ?? false;
    this.columnCount = options.columnCount;
    this.endsWithCr = options.endsWithCr ?? false;
    this.recordLengthMax = options.recordLengthMax ?? RECORD_LENGTH_MAX;
    this.columnsMax = options.columnsMax ?? COLUMNS_MAX;
    this.number = options.recordsBefore ?? 0;
    this.budget = options.budget;
  }

  /** Reads the next piece of the file and returns the records that are complete now, without blank lines. */
  push(chunk: string): FileRecord[] {
    this.add(chunk);
    return this.readRecords();
  }

  /** As `push`, in steps that take milliseconds each. */
  *pushInSteps(chunk: string): Generator<void, FileRecord[]> {
    this.add(chunk);
    return yield* this.readInSteps();
  }

  /** As `pushInSteps`, where only the number of the records matters. */
  *countInSteps(chunk: string): Generator<void, void> {
    this.add(chunk);
    yield* this.readInSteps({ countsOnly: true });
  }

  /** The records that only the end of the file completes. */
  end(): FileRecord[] {
    this.ended = true;
    return this.readRecords();
  }

  /** As `end`, no further than the first of them. */
  endFirst(): FileRecord | undefined {
    this.ended = true;
    return this.readRecords({ recordsMax: 1 })[0];
  }

  /** As `end`, in steps that take milliseconds each. */
  *endInSteps(): Generator<void, FileRecord[]> {
    this.ended = true;
    return yield* this.readInSteps();
  }

  /** Records so far, the header and blank lines included. */
  get recordCount(): number {
    return this.number;
  }

  /** Text that is not yet a record; undefined inside a line that is skipped. */
  rest(): string | undefined {
    return this.isSkippingLine ? undefined : this.text;
  }

  private add(chunk: string): void {
    this.text += chunk;
    this.repairStepsMax += chunk.length * REPAIR_STEPS_PER_CHARACTER;
  }

  /** Counts lines up to the first that must be parsed, and returns where it starts: without quotes a line is a record. */
  private skipPlainLines(start: number): number {
    if (this.endsWithCr) return start;
    const quote = this.text.indexOf(this.quote, start);
    let position = start;
    for (;;) {
      const lineEnd = this.text.indexOf('\n', position);
      const isPlain = lineEnd >= 0 && (quote < 0 || lineEnd < quote);
      if (!isPlain || lineEnd - position >= this.recordLengthMax) return position;
      this.number++;
      position = lineEnd + 1;
    }
  }

  private *readInSteps({ countsOnly = false } = {}): Generator<void, FileRecord[]> {
    const first = this.readRecords({ countsOnly, stepsMax: STEPS_PER_TURN });
    if (!this.isPaused) return first;
    const parts = [first];
    while (this.isPaused) {
      yield;
      parts.push(this.readRecords({ countsOnly, stepsMax: STEPS_PER_TURN }));
    }
    return parts.flat();
  }

  /**
   * @param stepsMax what the reader comes by before it pauses
   * @param recordsMax the records that it reads before it pauses
   */
  private readRecords({ countsOnly = false, stepsMax = Infinity, recordsMax = Infinity } = {}): FileRecord[] {
    const records: FileRecord[] = [];
    let position = this.isSkippingLine ? this.skipLine(0) : 0;
    let steps = 0;
    this.isPaused = false;
    while (position < this.text.length) {
      if (steps > stepsMax || records.length >= recordsMax) {
        this.isPaused = true;
        break;
      }
      if (countsOnly) {
        position = this.skipPlainLines(position);
        if (position >= this.text.length) break;
      }
      this.steps = 0;
      const first = this.readRecord(position);
      const stepsOnce = this.steps;
      const next = this.repaired(position, first);
      steps += this.steps;
      const isTooLong = (next === INCOMPLETE ? this.text.length : next) - position > this.recordLengthMax;
      if (next === INCOMPLETE && !isTooLong) break;
      this.number++;
      if (this.budget) this.spend(this.budget, this.isUnclosed ? this.steps : this.steps - stepsOnce);
      if (isTooLong || this.isUnclosed) {
        position = this.skipRecord(position, records);
        continue;
      }
      if (!this.isBlank(position)) records.push(this.toRecord());
      position = next;
    }
    this.text = this.text.slice(position);
    return records;
  }

  /**
   * Reads a record again that has quotes which are not escaped and not as many cells as most: one of the quotes that
   * opened a cell may be text. Without such quotes a record is as its file says, however many cells it has. It waits for
   * the text that decides, so that it reads the same however the file is divided.
   */
  private repaired(start: number, next: number): number {
    const { columnCount, cells, isUnclosed, malformed } = this;
    const isFitting = cells.length === columnCount && !isUnclosed;
    if (columnCount === undefined || malformed.length === 0 || isFitting || next === INCOMPLETE) return next;
    const stepsOnce = this.steps;
    const stopAt = start + Math.min(REPAIRED_LENGTH_MAX, this.recordLengthMax);
    for (const quote of malformed.slice(0, MALFORMED_CELLS_MAX)) {
      const stepsBefore = this.steps;
      const end = this.readRecord(start, { asText: quote, stopAt });
      if (end === INCOMPLETE && !this.ended && this.text.length <= stopAt) return INCOMPLETE;
      if (end === INCOMPLETE || this.isUnclosed || this.cells.length !== columnCount) continue;
      this.spendOnRepair(stepsBefore);
      return end;
    }
    this.spendOnRepair(this.steps - stepsOnce);
    this.cells = cells;
    this.isUnclosed = isUnclosed;
    return next;
  }

  /** @throws UnreadableFile where there are too many for so short a file */
  private spendOnRepair(steps: number): void {
    this.repairSteps += steps;
    if (this.repairSteps > this.repairStepsMax) throw tooManyQuotes();
  }

  /** @throws UnreadableFile where the budget is used up */
  private spend(budget: StepBudget, steps: number): void {
    if (steps === 0) return;
    budget.left -= steps;
    if (budget.left < 0) throw tooManyQuotes();
  }

  private toRecord(): FileRecord {
    const { number, cells } = this;
    if (cells.length <= this.columnsMax) return { number, cells };
    return { number, cells: cells.slice(0, this.columnsMax), error: 'too-many-columns' };
  }

  private isBlank(start: number): boolean {
    return (
      this.cells.length === 1 &&
      this.cells[0]!.trim() === '' &&
      this.text.charCodeAt(start) !== this.quoteCode
    );
  }

  /** Skips a record that has no end within the limit and returns where its first line ends. */
  private skipRecord(start: number, records: FileRecord[]): number {
    const end = this.skipLine(start);
    const isOneLine = end - start > this.recordLengthMax;
    if (!isOneLine) {
      this.unclosedQuotes++;
      this.unclosedSteps += this.steps;
    }
    if (this.unclosedQuotes > UNCLOSED_QUOTES_MAX)
      throw new UnreadableFile(`More than ${UNCLOSED_QUOTES_MAX} records have a quote that is never closed.`);
    if (this.unclosedSteps > UNCLOSED_STEPS_MAX)
      throw new UnreadableFile('Behind quotes that are never closed, the file has too many quotes.');
    const text = this.text.slice(start, Math.min(end, start + SKIPPED_TEXT_LENGTH_MAX)).trimEnd();
    records.push({ number: this.number, cells: [text], error: isOneLine ? 'too-long' : 'unclosed-quote' });
    return end;
  }

  /** The position after the line that `start` is in; the rest of an incomplete line is skipped when it comes. */
  private skipLine(start: number): number {
    const lineEnd = this.text.indexOf(this.endsWithCr ? '\r' : '\n', start);
    this.isSkippingLine = lineEnd < 0;
    return lineEnd < 0 ? this.text.length : lineEnd + 1;
  }

  /**
   * Reads the cells of the record at `start`, a quote at `asText` as text, and returns where the next one starts.
   * @param stopAt a record that goes on here is incomplete
   */
  private readRecord(start: number, { asText = NOWHERE, stopAt = Infinity } = {}): number {
    const { text, delimiter } = this;
    this.cells = [];
    this.isUnclosed = false;
    if (this.malformed.length > 0) this.malformed = [];
    let position = this.skipsBlanks ? this.afterBlanks(start) : start;
    for (;;) {
      position =
        text.charCodeAt(position) === this.quoteCode && position !== asText
          ? this.readQuoted(position, stopAt)
          : this.readPlain(position);
      if (position === INCOMPLETE || position > stopAt) return INCOMPLETE;
      if (position >= text.length) return text.length;
      if (text.charCodeAt(position) !== delimiter) return position + this.lineEndLength(position);
      position = this.skipsBlanks ? this.afterBlanks(position + 1) : position + 1;
      if (position >= text.length) {
        if (!this.ended) return INCOMPLETE;
        if (delimiter !== SPACE) this.addCell(position, position);
        return position;
      }
      // Blanks at the end of a line are no delimiter.
      if (delimiter === SPACE && this.skipsBlanks) {
        const lineEnd = this.lineEndLength(position);
        if (lineEnd !== 0) return lineEnd === INCOMPLETE ? INCOMPLETE : position + lineEnd;
      }
    }
  }

  private afterBlanks(start: number): number {
    let position = start;
    while (this.text.charCodeAt(position) === SPACE) position++;
    return position;
  }

  private readPlain(start: number): number {
    const { text, delimiter } = this;
    let position = start;
    for (; position < text.length; position++) {
      const code = text.charCodeAt(position);
      if (code === delimiter || code === LF) break;
      if (code === CR) {
        const length = this.lineEndLength(position);
        if (length === INCOMPLETE) return INCOMPLETE;
        if (length > 0) break;
      }
    }
    if (position >= text.length && !this.ended) return INCOMPLETE;
    this.steps++;
    this.addCell(start, position);
    return position;
  }

  /** One more cell than may be says that there are too many. */
  private addCell(start: number, end: number, hasEscapes = false): void {
    if (this.cells.length > this.columnsMax) return;
    const cell = this.text.slice(start, end);
    this.cells.push(hasEscapes ? this.unescaped(cell) : cell);
  }

  /** Reads a quoted cell and returns the position of the delimiter or line end after it. */
  private readQuoted(start: number, stopAt: number): number {
    const { text, quote: mark, escape } = this;
    let hasEscapes = false;
    for (let quote = text.indexOf(mark, start + 1); quote >= 0; quote = text.indexOf(mark, quote + 1)) {
      this.steps++;
      if (quote > stopAt) return INCOMPLETE;
      if (this.isDoubled && text.charCodeAt(quote + 1) === this.quoteCode) {
        hasEscapes = true;
        quote++;
        continue;
      }
      if (escape !== '' && this.isEscaped(start, quote)) {
        hasEscapes = true;
        continue;
      }
      const next = this.afterBlanks(quote + 1);
      if (next >= text.length && !this.ended) return INCOMPLETE;
      const lineEnd = this.lineEndLength(next);
      if (lineEnd === INCOMPLETE) return INCOMPLETE;
      // Behind a blank that is the delimiter, the next cell may begin.
      const isEnd = this.delimiter === SPACE && next > quote + 1;
      if (next >= text.length || lineEnd > 0 || isEnd || text.charCodeAt(next) === this.delimiter) {
        this.addCell(start + 1, quote, hasEscapes);
        return isEnd ? quote + 1 : next;
      }
      // A single quote inside a quoted cell is text like any other.
      if (this.malformed.at(-1) !== start) this.malformed.push(start);
    }
    if (!this.ended) return INCOMPLETE;
    this.isUnclosed = true;
    if (this.malformed.at(-1) !== start) this.malformed.push(start);
    return text.length;
  }

  /** Whether an odd number of escapes stands before a quote: two are one that is text. */
  private isEscaped(start: number, quote: number): boolean {
    let first = quote;
    while (first - 1 > start && this.text[first - 1] === this.escape) first--;
    return (quote - first) % 2 === 1;
  }

  private unescaped(inner: string): string {
    const { quote, escape } = this;
    if (escape === '') return inner.replaceAll(quote + quote, quote);
    let text = '';
    for (let index = 0; index < inner.length; index++) {
      const next = inner[index + 1];
      if (inner[index] === escape && (next === quote || next === escape)) index++;
      text += inner[index]!;
    }
    return text;
  }

  /** Length of the line end at this position: 0 where there is none. */
  private lineEndLength(position: number): number {
    const code = this.text.charCodeAt(position);
    if (code === LF) return 1;
    if (code !== CR) return 0;
    if (position + 1 >= this.text.length && !this.ended) return INCOMPLETE;
    if (this.text.charCodeAt(position + 1) === LF) return 2;
    return this.endsWithCr ? 1 : 0;
  }
}
