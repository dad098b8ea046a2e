import Papa from 'papaparse';
import type { TextEncoding } from '@plinth/contracts/data-exchange/shapes';
import { readEvidence, type CellEvidence } from './cell-evidence';
import { CsvReader, type StepBudget } from './csv-reader';
import { detectLayout, widthOfTable } from './detect-layout';
import type { CsvFormat, LayoutFinding } from './file-format';
import { LetterSample } from './guess-encoding';
import { headerOf } from './read-csv';
import { firstRecord, sampleRecords } from './sample-records';

const HEAD_BYTES = 64 * 1024;
const DELIMITERS = [',', ';', '\t', '|'];
const BLANK_DELIMITED_COLUMNS_MIN = 3;
/** Cells and quotes that all readings of a head come by again, where quotes are not closed. */
const AGAIN_STEPS_MAX = 1_000_000;

/** How a head is read, whatever its delimiter. */
interface Reading {
  endsWithCr: boolean;
  budget: StepBudget;
}

/** Files that cannot be imported, by their first bytes. */
const foreignSignatures = [
  'd0cf11e0', // OLE: xls, encrypted xlsx
  '25504446', // PDF
  '89504e47', // PNG
  'ffd8ff', // JPEG
  '47494638', // GIF
  '504b0506', // an empty zip
  '504b0708', // a zip in several volumes
  '1f8b', // gzip
  '425a68', // bzip2
  '377abcaf', // 7z
  '28b52ffd', // zstd
  '52617221', // rar
  '7f454c46', // ELF
  'cafebabe',
  '4d5a90',
  '52494646',
].map((hex) => Buffer.from(hex, 'hex'));

export type Detection =
  | { found: 'text'; format: CsvFormat; evidence: CellEvidence; head: Buffer }
  | { found: 'workbook' }
  | { found: 'unsupported' }
  | { found: 'empty' };

/**
 * Detects the format of a file while it streams through. The head decides between kinds and encodings; whether all bytes
 * are UTF-8 is known only at the end, because one wrong byte may be in the last line.
 */
export class FormatDetector {
  /** What came before there was enough to decide; it may come byte by byte. */
  private readonly chunks: Buffer[] = [];
  private length = 0;
  private head = Buffer.alloc(0);
  private text: TextCheck | undefined;

  push(chunk: Buffer): void {
    if (this.text) {
      this.text.push(chunk);
      return;
    }
    this.chunks.push(chunk);
    this.length += chunk.length;
    if (this.length >= HEAD_BYTES) this.startText();
  }

  /** What was detected, in steps that take milliseconds each. @throws UnreadableFile */
  *end(): Generator<void, Detection> {
    if (this.length === 0) return { found: 'empty' };
    if (!this.text) this.startText();
    const { head } = this;
    if (isZip(head)) return { found: looksLikeWorkbook(head) ? 'workbook' : 'unsupported' };
    const check = this.text!.end();
    if (isForeign(head, check.encoding)) return { found: 'unsupported' };
    yield;
    return yield* describeText(head, check, head.length < HEAD_BYTES);
  }

  private startText(): void {
    this.head = Buffer.concat(this.chunks.splice(0));
    this.text = new TextCheck(guessEncoding(this.head), hasBom(this.head));
    this.text.push(this.head);
  }
}

interface EncodingCheck {
  encoding: TextEncoding;
  isValid: boolean;
  /** Only the letters say so. */
  isGuess: boolean;
}

/** Checks that all bytes are characters of the guessed encoding; the letters of text that is no UTF-8 say what it is. */
class TextCheck {
  private decoder: InstanceType<typeof TextDecoder> | undefined;
  private readonly letters = new LetterSample();

  constructor(
    private readonly encoding: TextEncoding,
    private readonly isCertain: boolean,
  ) {
    this.decoder = new TextDecoder(encoding, { fatal: true });
  }

  push(chunk: Buffer): void {
    this.decode(chunk, true);
    if (!this.isCertain && this.encoding === 'utf-8') this.letters.push(chunk);
  }

  end(): EncodingCheck {
    this.decode(Buffer.alloc(0), false);
    if (this.decoder) return { encoding: this.encoding, isValid: true, isGuess: false };
    if (this.isCertain || this.encoding !== 'utf-8')
      return { encoding: this.encoding, isValid: false, isGuess: false };
    const encoding = this.letters.guess();
    // In Windows-1252 every byte is a character. In others each row is checked when it is read.
    const isWestern = encoding === 'windows-1252';
    return { encoding, isValid: isWestern, isGuess: !isWestern };
  }

  private decode(chunk: Buffer, stream: boolean): void {
    try {
      this.decoder?.decode(chunk, { stream });
    } catch {
      this.decoder = undefined;
    }
  }
}

const hasBom = (head: Buffer): boolean =>
  head.subarray(0, 3).equals(Buffer.from('efbbbf', 'hex')) ||
  ['fffe', 'feff'].includes(head.toString('hex', 0, 2));

/** A byte order mark decides; else NULs at every second byte are UTF-16; else it is UTF-8 until proven otherwise. */
function guessEncoding(head: Buffer): TextEncoding {
  const mark = head.toString('hex', 0, 2);
  if (mark === 'fffe') return 'utf-16le';
  if (mark === 'feff') return 'utf-16be';
  const nuls: [number, number] = [0, 0];
  for (const [index, byte] of head.entries()) if (byte === 0) nuls[(index % 2) as 0 | 1]++;
  const few = head.length / 200;
  const many = head.length / 20;
  if (nuls[1] > many && nuls[0] <= few) return 'utf-16le';
  if (nuls[0] > many && nuls[1] <= few) return 'utf-16be';
  return 'utf-8';
}

const isZip = (head: Buffer): boolean => head.toString('hex', 0, 4) === '504b0304';

/** A workbook is recognized by its first entries; LibreOffice, Excel and libraries differ in their order. */
const looksLikeWorkbook = (head: Buffer): boolean =>
  ['[Content_Types].xml', 'xl/', '_rels/.rels', 'docProps/'].some((entry) => head.includes(entry)) &&
  !['word/document.xml', 'ppt/presentation.xml'].some((entry) => head.includes(entry));

function isForeign(head: Buffer, encoding: TextEncoding): boolean {
  if (foreignSignatures.some((signature) => head.subarray(0, signature.length).equals(signature)))
    return true;
  if (encoding.startsWith('utf-16')) return false;
  const controls = head.reduce((sum, byte) => sum + (byte < 9 || (byte > 13 && byte < 32) ? 1 : 0), 0);
  if (controls > Math.max(8, head.length / 50)) return true;
  const start = head
    .toString('latin1', 0, 512)
    .replace(/^\xef\xbb\xbf/, '')
    .trimStart();
  return /^(<\?xml|<!doctype|<html|\{\s*["}]|\[\s*[{[\]"])/i.test(start);
}

function* describeText(
  head: Buffer,
  { encoding, isValid, isGuess }: EncodingCheck,
  isWhole: boolean,
): Generator<void, Detection> {
  const text = new TextDecoder(encoding).decode(head, { stream: true });
  if (isWhole && text.trim() === '') return { found: 'empty' };
  const endsWithCr = /\r/.test(text) && !text.includes('\n');
  const reading = { endsWithCr, budget: { left: AGAIN_STEPS_MAX } };
  const delimiter = namedDelimiter(text) ?? (yield* guessDelimiter(text, reading));
  const layout = yield* detectLayout(text, { ...withBudget(reading), delimiter }, isWhole);
  yield;
  const guess: LayoutFinding[] = isGuess ? [{ code: 'Encoding', args: [encoding] }] : [];
  const findings = [...guess, ...(layout.findings ?? [])];
  const format: CsvFormat = {
    kind: 'csv',
    encoding,
    hasByteOrderMark: hasBom(head),
    delimiter,
    endsWithCr,
    hasInvalidBytes: !isValid,
    ...layout,
    ...(findings.length === 0 ? {} : { findings }),
  };
  return { found: 'text', format, evidence: yield* evidenceOf(text, format, isWhole), head };
}

/** The evidence of the cells below the header, without a record that the end of the head truncates. */
function* evidenceOf(text: string, format: CsvFormat, isWhole: boolean): Generator<void, CellEvidence> {
  const reader = new CsvReader(format);
  const whole = yield* reader.pushInSteps(text);
  const records = isWhole ? [...whole, ...(yield* reader.endInSteps())] : whole;
  yield;
  const { begin, headerRows } = headerOf(format);
  const table = records.filter(({ number }) => number >= begin && number <= (format.lastRow ?? Infinity));
  const header = table.slice(0, Math.max(1, headerRows)).map(({ cells }) => cells.length);
  const hasTotals = format.findings?.some(({ code }) => code === 'Totals');
  const totals = hasTotals ? records.filter(({ number }) => number > format.lastRow!) : [];
  yield;
  return yield* readEvidence(
    table.slice(headerRows).map(({ cells }) => cells),
    {
      isWhole,
      columnCount: Math.max(format.columnCount ?? 0, ...header),
      totals: totals.map(({ cells }) => cells),
    },
  );
}

/** The delimiter that the first line names, as spreadsheets and programs that write for them do: `sep=;`. */
const namedDelimiter = (text: string): string | undefined =>
  /^"?sep=([,;|\t])"?[,;|\t]*(?=[\r\n])/i.exec(text)?.[1];

/**
 * The delimiter of the first line if there is only one candidate in it, else the one that papaparse finds most regular;
 * where that makes no table, the one that makes a table of the lines below.
 */
function* guessDelimiter(text: string, reading: Reading): Generator<void, string> {
  const ofFirstLine = yield* delimiterOfHeader(text, reading);
  yield;
  if (ofFirstLine === undefined && (yield* isBlankDelimited(text, reading))) return ' ';
  const isRegular =
    ofFirstLine !== undefined &&
    columnsOfHeader(text, ofFirstLine, reading) ===
      (yield* widthOfTable(text, { ...reading, delimiter: ofFirstLine }));
  yield;
  return isRegular ? ofFirstLine : ((yield* delimiterBelow(text, reading)) ?? ofFirstLine ?? ',');
}

/** Whether blanks, and nothing else, make a table with a column for each word of the first line. */
function* isBlankDelimited(text: string, reading: Reading): Generator<void, boolean> {
  const options = { ...reading, delimiter: ' ', skipsBlanks: true };
  const records = yield* sampleRecords(text, options);
  const width = records[0]?.cells.length ?? 0;
  yield;
  return (
    width >= BLANK_DELIMITED_COLUMNS_MIN &&
    records.length > 2 &&
    records.every(({ cells }) => cells.length === width) &&
    (yield* delimiterBelow(text, reading)) === undefined
  );
}

function* delimiterOfHeader(text: string, reading: Reading): Generator<void, string | undefined> {
  const candidates: string[] = [];
  for (const delimiter of DELIMITERS) {
    if (columnsOfHeader(text, delimiter, reading) > 1) candidates.push(delimiter);
    yield;
  }
  if (candidates.length <= 1) return candidates[0];
  const { meta } = Papa.parse(text, { preview: 50, delimitersToGuess: candidates, skipEmptyLines: true });
  return candidates.includes(meta.delimiter) ? meta.delimiter : candidates[0]!;
}

/** Each delimiter has a budget of its own: by a wrong one, every quote of a file may be unclosed. */
const withBudget = (reading: Reading): Reading => ({ ...reading, budget: { left: AGAIN_STEPS_MAX } });

/** The delimiter that makes the widest table below lines of text, if there is one. */
function* delimiterBelow(text: string, reading: Reading): Generator<void, string | undefined> {
  const widths: { delimiter: string; width: number }[] = [];
  for (const delimiter of DELIMITERS) {
    const { headerRow = 1 } = yield* detectLayout(text, { ...withBudget(reading), delimiter });
    if (headerRow > 1)
      widths.push({ delimiter, width: yield* widthOfTable(text, { ...reading, delimiter }) });
    yield;
  }
  return widths.sort((left, right) => right.width - left.width)[0]?.delimiter;
}

/** Only one record is read, so that no budget ends it. */
const columnsOfHeader = (text: string, delimiter: string, { endsWithCr }: Reading): number =>
  firstRecord(text, { delimiter, endsWithCr }, true)?.cells.length ?? 0;
