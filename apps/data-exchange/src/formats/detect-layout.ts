import { CsvReader, type CsvOptions, type FileRecord } from './csv-reader';
import type { CsvLayout, LayoutFinding } from './file-format';
import { UnreadableFile } from './unreadable-file';

const PREAMBLE_RECORDS_MAX = 20;
const SAMPLE_RECORDS = 200;

const TYPED = /^[+-]?[\d.,\s'’]*\d%?$|^\d{1,4}[./-]\d{1,2}[./-]\d{1,4}([T ].*)?$/;
/** A header may be a year, or the number of its column. */
const NUMBERED_HEADER = /^(\d{1,2}|(19|20)\d\d)$/;

/**
 * Finds out where the rows of a text file are: lines of text above the header, no header, a header with fewer cells than
 * the rows, another quote, blanks behind delimiters. What a file does not clearly show is taken as usual.
 */
export function detectLayout(text: string, options: Pick<CsvOptions, 'delimiter' | 'endsWithCr'>): CsvLayout {
  const quoting = quotingOf(text, options);
  const records = sampleOf(text, { ...options, ...quoting });
  const width = usualWidth(records);
  const preamble = preambleOf(records, width);
  const [header, ...rows] = records.slice(preamble);
  if (!header) return {};
  // Blanks behind commas in a file of one column are its text.
  if (header.cells.length === 1) delete quoting.skipsBlanks;
  const findings: LayoutFinding[] = [];
  const layout: CsvLayout = { ...quoting };
  if (preamble > 0) {
    layout.headerRow = header.number;
    findings.push({
      code: 'Preamble',
      detail: `Rows 1 to ${header.number - 1} are text above the table: they have fewer cells than the ${width} of most rows.`,
    });
  }
  if (isRow(header.cells, rows)) {
    layout.headerRow = 0;
    layout.rowsBegin = header.number;
    findings.push({
      code: 'NoHeader',
      detail: `Row ${header.number} holds values of the same kind as the rows below it, so there is no header.`,
    });
  }
  if (width > header.cells.length && header.cells.length > 1) {
    layout.columnCount = width;
    findings.push({
      code: 'WiderRows',
      detail: `The header has ${header.cells.length} cells and most rows have ${width}.`,
    });
  }
  return withFindings(layout, findings);
}

/** How many cells most records of a text have; as many as the first has, where there is no such number. */
export const widthOfTable = (text: string, options: Pick<CsvOptions, 'delimiter' | 'endsWithCr'>): number =>
  usualWidth(sampleOf(text, options));

function withFindings(layout: CsvLayout, findings: LayoutFinding[]): CsvLayout {
  if (layout.quote === "'")
    findings.push({ code: 'Quote', detail: 'Cells stand between single quotes: \' instead of ".' });
  if (layout.skipsBlanks)
    findings.push({ code: 'Blanks', detail: 'A blank follows every delimiter; it is no part of the cells.' });
  return findings.length === 0 ? layout : { ...layout, findings };
}

/** Whole records of the sample: one that its end truncates is left out, unless there is no other. */
function sampleOf(text: string, options: CsvOptions) {
  const sample = recordsOf(text, options);
  return sample.filter(({ error }) => !error).slice(0, SAMPLE_RECORDS);
}

function recordsOf(text: string, options: CsvOptions): FileRecord[] {
  const reader = new CsvReader(options);
  try {
    const records = reader.push(text);
    return records.length > 1 ? records : [...records, ...reader.end()];
  } catch (error) {
    // By a delimiter that is only tried, quotes may never be closed.
    if (error instanceof UnreadableFile) return [];
    throw error;
  }
}

/** How many cells more than half of the records have; else as many as the first has. */
function usualWidth(records: readonly { cells: string[] }[]): number {
  const counts = new Map<number, number>();
  for (const { cells } of records) counts.set(cells.length, (counts.get(cells.length) ?? 0) + 1);
  const [width, count] = [...counts].sort(([, left], [, right]) => right - left)[0] ?? [0, 0];
  return count >= 3 && count * 2 > records.length ? width : (records[0]?.cells.length ?? 0);
}

const filled = (cells: readonly string[]): number => cells.filter((cell) => cell.trim() !== '').length;

/** How many records stand above the table. One line above two columns may as well be their header. */
function preambleOf(records: readonly { number: number; cells: string[] }[], width: number): number {
  const first = records.findIndex(({ cells }) => cells.length === width && filled(cells) * 2 > width);
  if (first <= 0 || first > PREAMBLE_RECORDS_MAX) return 0;
  const above = records.slice(0, first);
  const isText = above.every(({ cells }) => filled(cells) * 2 <= width);
  const hasGap = records[first]!.number - records[first - 1]!.number > 1;
  return isText && (width > 2 || hasGap || above.length > 1) ? first : 0;
}

/** Whether the first record is a row: in some column it has a number or date as all others do, and in none a name. */
function isRow(cells: readonly string[], rows: readonly { cells: string[] }[]): boolean {
  if (rows.length < 2) return false;
  let alike = 0;
  for (const [column, cell] of cells.entries()) {
    const others = rows.map((row) => row.cells[column]?.trim() ?? '').filter((other) => other !== '');
    const isTyped = others.length >= 2 && others.every((other) => TYPED.test(other));
    if (!isTyped) continue;
    const text = cell.trim();
    if (text === '' || !TYPED.test(text) || NUMBERED_HEADER.test(text)) return false;
    alike++;
  }
  return alike > 0;
}

function quotingOf(
  text: string,
  { delimiter, endsWithCr = false }: Pick<CsvOptions, 'delimiter' | 'endsWithCr'>,
): Pick<CsvLayout, 'quote' | 'skipsBlanks'> {
  const lines = text
    .slice(0, 32_768)
    .split(endsWithCr ? '\r' : '\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '');
  const cells = lines.flatMap((line) => line.split(delimiter));
  const behind = lines.flatMap((line) => line.split(delimiter).slice(1));
  const isBlank = delimiter !== ' ' && delimiter !== '\t';
  const skipsBlanks =
    isBlank &&
    lines.length > 1 &&
    behind.length >= 3 &&
    behind.every((cell) => /^ \S|^$/.test(cell)) &&
    behind.some((cell) => cell !== '');
  const single = cells.filter((cell) => /^ ?'(?:[^']|'')*'$/.test(cell)).length;
  const isSingle = !text.includes('"') && single >= 3 && single * 2 > cells.length;
  return { ...(isSingle ? { quote: "'" as const } : {}), ...(skipsBlanks ? { skipsBlanks } : {}) };
}
