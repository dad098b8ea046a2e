import type { QuoteEscape } from '@plinth/contracts/data-exchange/shapes';
import type { CsvOptions } from './csv-reader';
import type { CsvLayout } from './file-format';
import { isAsRegular, isMoreRegular, regularityOf, sampleRecords } from './sample-records';

type Delimited = Pick<CsvOptions, 'delimiter' | 'endsWithCr' | 'budget'>;
type Quoting = Pick<CsvLayout, 'quote' | 'escape' | 'skipsBlanks'>;

const SINGLE_QUOTED_MIN = 3;
const BLANK_SHARE = 0.95;

/**
 * Finds out what stands around cells, before quotes inside them, and behind delimiters: what makes the records most
 * alike. The usual wins where others are only as good.
 */
export function* detectQuoting(head: string, options: Delimited): Generator<void, Quoting> {
  const skipsBlanks = (yield* hasBlanksBehindDelimiters(head, options)) ? { skipsBlanks: true } : {};
  const usual = { ...options, ...skipsBlanks };
  yield;
  const quote = (yield* isSingleQuoted(head, usual)) ? { quote: "'" as const } : {};
  yield;
  const escape = yield* escapeOf(head, { ...usual, ...quote });
  return { ...skipsBlanks, ...quote, ...(escape === 'Doubled' ? {} : { escape }) };
}

function* hasBlanksBehindDelimiters(head: string, options: Delimited): Generator<void, boolean> {
  const { delimiter } = options;
  if (delimiter === '\t') return false;
  const records = yield* sampleRecords(head, options);
  if (delimiter === ' ') return records.some(({ cells }) => cells.slice(0, -1).includes(''));
  const widest = Math.max(0, ...records.map(({ cells }) => cells.length));
  const behind = records
    .filter(({ cells }) => cells.length === widest || cells.length > 1)
    .flatMap(({ cells }) => cells.slice(1));
  const blanks = behind.filter((cell) => /^ \S/.test(cell)).length;
  const empty = behind.filter((cell) => cell.trim() === '').length;
  return (
    records.length > 1 && behind.length >= 3 && blanks > 0 && blanks + empty >= behind.length * BLANK_SHARE
  );
}

function* isSingleQuoted(head: string, options: CsvOptions): Generator<void, boolean> {
  const { delimiter } = options;
  const cells = head.split(/\r\n?|\n/).flatMap((line) => line.trimEnd().split(delimiter));
  const quotedBy = (mark: string) =>
    cells.filter((cell) => {
      const text = cell.trim();
      return text.length > 1 && text.startsWith(mark) && text.endsWith(mark);
    }).length;
  const single = quotedBy("'");
  if (single < SINGLE_QUOTED_MIN || single <= quotedBy('"')) return false;
  const asSingle = regularityOf(yield* sampleRecords(head, { ...options, quote: "'" }));
  const asDouble = regularityOf(yield* sampleRecords(head, options));
  // Without delimiters inside cells both are alike; then almost every cell must be quoted.
  return isMoreRegular(asSingle, asDouble) || (isAsRegular(asSingle, asDouble) && single * 2 > cells.length);
}

function* escapeOf(head: string, options: CsvOptions): Generator<void, QuoteEscape> {
  const quote = options.quote ?? '"';
  const by = (escape: QuoteEscape) => sampleRecords(head, { ...options, escape });
  const doubled = regularityOf(yield* by('Doubled'));
  yield;
  for (const [escape, character] of [
    ['Backslash', '\\'],
    ['Nul', '\0'],
  ] as const) {
    // At the end of a cell it may be its last character, such as that of a folder.
    const inside = new RegExp(
      `${escaped(character + quote)}(?!\\s*(${escaped(options.delimiter)}|[\\r\\n]|$))`,
    );
    if (inside.test(head) && isAsRegular(regularityOf(yield* by(escape)), doubled)) return escape;
  }
  const records = yield* by('None');
  const isDoubledInside = records.some(({ cells }) => cells.some((cell) => cell.includes(quote + quote)));
  return !isDoubledInside && isMoreRegular(regularityOf(records), doubled) ? 'None' : 'Doubled';
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
