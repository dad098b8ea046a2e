import { UnreadableFile } from './unreadable-file';

/** One record of a file. Its number counts every record, the header and blank lines included. */
export interface FileRecord {
  number: number;
  cells: string[];
  /** Why the record cannot be read as it is. */
  error?: RecordError;
}

export type RecordError = 'unclosed-quote' | 'too-long' | 'too-many-columns';

export interface CsvOptions {
  delimiter: string;
  /** The quote around cells; `"` unless given. */
  quote?: '"' | "'" | undefined;
  /** Blanks behind a delimiter are no part of a cell. */
  skipsBlanks?: boolean | undefined;
  /** Lines end with a lone CR, as old Macs wrote them; otherwise with LF or CRLF, mixed as they like. */
  endsWithCr?: boolean;
  /** Characters of one record. */
  recordLengthMax?: number;
  columnsMax?: number;
  /** Records of the file that another reader has. */
  recordsBefore?: number;
}

export const RECORD_LENGTH_MAX = 1024 * 1024;
export const COLUMNS_MAX = 1_000;
/** Each one is scanned for up to the length of a record, so their number is limited. */
const UNCLOSED_QUOTES_MAX = 100;
const SKIPPED_TEXT_LENGTH_MAX = 1_000;

const LF = 10;
const CR = 13;
const SPACE = 32;
const INCOMPLETE = -1;

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
  private isSkippingLine = false;
  private readonly delimiter: number;
  private readonly quote: string;
  private readonly quoteCode: number;
  private readonly skipsBlanks: boolean;
  private readonly endsWithCr: boolean;
  private readonly recordLengthMax: number;
  private readonly columnsMax: number;
  private cells: string[] = [];
  private isUnclosed = false;

  constructor(options: CsvOptions) {
    this.delimiter = options.delimiter.charCodeAt(0);
    this.quote = options.quote ?? '"';
    this.quoteCode = this.quote.charCodeAt(0);
    this.skipsBlanks = options.skipsBlanks ?? false;
    this.endsWithCr = options.endsWithCr ?? false;
    this.recordLengthMax = options.recordLengthMax ?? RECORD_LENGTH_MAX;
    this.columnsMax = options.columnsMax ?? COLUMNS_MAX;
    this.number = options.recordsBefore ?? 0;
  }

  /** Reads the next piece of the file and returns the records that are complete now, without blank lines. */
  push(chunk: string): FileRecord[] {
    this.text = this.text === '' ? chunk : this.text + chunk;
    return this.readRecords();
  }

  /** As `push`, where only the number of the records matters. */
  count(chunk: string): void {
    this.text += chunk;
    this.readRecords({ countsOnly: true });
  }

  /** The records that only the end of the file completes. */
  end(): FileRecord[] {
    this.ended = true;
    return this.readRecords();
  }

  /** Records so far, the header and blank lines included. */
  get recordCount(): number {
    return this.number;
  }

  /** Text that is not yet a record; undefined inside a line that is skipped. */
  rest(): string | undefined {
    return this.isSkippingLine ? undefined : this.text;
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

  private readRecords({ countsOnly = false } = {}): FileRecord[] {
    const records: FileRecord[] = [];
    let position = this.isSkippingLine ? this.skipLine(0) : 0;
    while (position < this.text.length) {
      if (countsOnly) {
        position = this.skipPlainLines(position);
        if (position >= this.text.length) break;
      }
      const next = this.readRecord(position);
      const isTooLong = (next === INCOMPLETE ? this.text.length : next) - position > this.recordLengthMax;
      if (next === INCOMPLETE && !isTooLong) break;
      this.number++;
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
    if (!isOneLine && ++this.unclosedQuotes > UNCLOSED_QUOTES_MAX) {
      throw new UnreadableFile(`More than ${UNCLOSED_QUOTES_MAX} records have a quote that is never closed.`);
    }
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

  /** Reads the cells of the record at `start` and returns where the next one starts. */
  private readRecord(start: number): number {
    const { text, delimiter } = this;
    this.cells = [];
    this.isUnclosed = false;
    let position = start;
    for (;;) {
      position =
        text.charCodeAt(position) === this.quoteCode ? this.readQuoted(position) : this.readPlain(position);
      if (position === INCOMPLETE) return INCOMPLETE;
      if (position >= text.length) return text.length;
      if (text.charCodeAt(position) !== delimiter) return position + this.lineEndLength(position);
      position++;
      if (this.skipsBlanks) while (text.charCodeAt(position) === SPACE) position++;
      if (position >= text.length) {
        if (!this.ended) return INCOMPLETE;
        this.cells.push('');
        return position;
      }
    }
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
    this.cells.push(text.slice(start, position));
    return position;
  }

  /** Reads a quoted cell and returns the position of the delimiter or line end after it. */
  private readQuoted(start: number): number {
    const { text, quote: mark } = this;
    let hasDoubled = false;
    for (let quote = text.indexOf(mark, start + 1); quote >= 0; quote = text.indexOf(mark, quote + 1)) {
      if (text.charCodeAt(quote + 1) === this.quoteCode) {
        hasDoubled = true;
        quote++;
        continue;
      }
      let next = quote + 1;
      while (text.charCodeAt(next) === SPACE) next++;
      if (next >= text.length && !this.ended) return INCOMPLETE;
      const lineEnd = this.lineEndLength(next);
      if (lineEnd === INCOMPLETE) return INCOMPLETE;
      if (next >= text.length || lineEnd > 0 || text.charCodeAt(next) === this.delimiter) {
        const inner = text.slice(start + 1, quote);
        this.cells.push(hasDoubled ? inner.replaceAll(mark + mark, mark) : inner);
        return next;
      }
      // A single quote inside a quoted cell is text like any other.
    }
    if (!this.ended) return INCOMPLETE;
    this.isUnclosed = true;
    return text.length;
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
