import type { DateOrder } from '@plinth/contracts/data-exchange/shapes';
import { readAmount } from '@plinth/exchange/import/amount';
import { NOTHING } from '@plinth/exchange/import/convert-rows';
import type { CsvFormat, DateFormat } from './file-format';

/** How much of a file shows how its numbers and dates are written: the first one to look at it waits for that. */
export const EVIDENCE_ROWS_MAX = 1_000;
/** Characters, and cells. */
export const EVIDENCE_LENGTH_MAX = 256 * 1024;

/** How many cells of a sample show a format of numbers or dates. */
export interface CellEvidence {
  /** Cells that are a number with this separator only. */
  comma: number;
  dot: number;
  /** `1,234` may be either. */
  unsureComma: number;
  dates: Record<DateOrder, number>;
  /** `03/04/2026` may be either. */
  unsureDates: number;
  /** The only currency of the file, with all numbers of its columns but zeros: else it says what a number means. */
  currency: string | undefined;
  /** By the decimal separator of the file: columns that do not show whether the other sign groups their digits. */
  unclearColumns: Record<'.' | ',', number[]>;
}

/** What the cells of one column show. */
interface ColumnEvidence extends Omit<CellEvidence, 'currency' | 'unclearColumns'> {
  /** Of each number that has one. */
  currencies: string[];
}

const GROUPED_BY_DOTS = /^[+-]?\d{1,3}(\.\d{3})+,\d+$|^[+-]?\d{1,3}(\.\d{3}){2,}$/;
const GROUPED_BY_COMMAS =
  /^[+-]?\d{1,3}(,\d{3})+\.\d+$|^[+-]?\d{1,3}(,\d{3}){2,}$|^[+-]?\d{1,2}(,\d\d)+,\d{3}(\.\d+)?$/;
const GROUPED_BY_SPACES = /^[+-]?\d{1,3}(?:[\p{Zs}'’]\d{3})+(?:([.,])\d+)?$/u;
const DECIMAL = /^[+-]?(\d+)([.,])(\d+)$/;
const DATE = /^(\d{1,2})([./-])(\d{1,2})\2\d{4}(?![\d.])/;
/** Whole numbers and ISO 8601. */
const SAME_EVERYWHERE = /^[+-]?\d+$|^\d{4}-\d\d-\d\d/;
const YEAR_FIRST = /^\d{4}([./])\d{1,2}\1\d{1,2}(?!\d)/;
/** `1.234`, which may be either. */
const LONE_DOT = /^[+-]?[1-9]\d{0,2}\.\d{3}$/;
/** Zeros are written so among decimals too. */
const WHOLE = /^[+-]?[1-9]\d{0,2}$/;
/** The same amount in each currency. */
const ZERO = /^0+(?:[.,]0+)?$/;
const SIGN = /\p{Sc}/u;

const noEvidence = (): ColumnEvidence => ({
  comma: 0,
  dot: 0,
  unsureComma: 0,
  dates: { DayMonthYear: 0, MonthDayYear: 0, YearMonthDay: 0 },
  unsureDates: 0,
  currencies: [],
});

/** What of a file is counted. */
interface Sample {
  /** Nothing follows it in the file. */
  isWhole: boolean;
  /** Of the file: rows may be shorter. */
  columnCount: number;
  /** Records below the rows, which are none: their decimals are those of the rows. */
  totals?: readonly (readonly string[])[];
}

/** So many cells are one step. */
const CELLS_PER_STEP = 1_000;

/** Counts in the columns where most cells are numbers or dates: among texts `1,5` may be anything. */
export function* readEvidence(
  rows: readonly (readonly string[])[],
  { isWhole, columnCount, totals = [] }: Sample,
): Generator<void, CellEvidence> {
  const columns = rows.reduce((most, { length }) => Math.max(most, length), columnCount);
  let evidence = noEvidence();
  const currencies = new Set<string>();
  const unclearColumns: CellEvidence['unclearColumns'] = { '.': [], ',': [] };
  let areClear = true;
  const filled = yield* filledCells(rows);
  let read = 0;
  for (let column = 0; column < columns; column++) {
    const cells = filled[column] ?? [];
    read += cells.length;
    if (read >= CELLS_PER_STEP) {
      yield;
      read = cells.length;
    }
    const ofColumn = noEvidence();
    const typed = cells.filter((cell) => countCell(cell, ofColumn)).length;
    const isTyped = typed * 2 >= cells.length;
    // Three letters before a number among texts are most often something else, such as `TOP 10`.
    const shown = isTyped ? ofColumn.currencies : ofColumn.currencies.filter((text) => SIGN.test(text));
    for (const currency of shown) currencies.add(currency);
    if (shown.length > 0)
      areClear &&= isTyped && shown.length + cells.filter((cell) => ZERO.test(cell)).length === typed;
    const ofTotals = noEvidence();
    for (const total of totals) countCell(total[column]?.trim() ?? '', ofTotals);
    ofColumn.comma += ofTotals.comma;
    ofColumn.dot += ofTotals.dot;
    if (isTyped) evidence = add(evidence, ofColumn);
    if (!groupsByDots(cells, ofColumn, isWhole)) unclearColumns[','].push(column);
    // Commas group digits unless a number of the file shows otherwise; those among texts are not counted.
    if (ofColumn.comma > 0 && !isTyped) unclearColumns['.'].push(column);
  }
  const [currency, ...others] = currencies;
  const { currencies: _currencies, ...counts } = evidence;
  return { ...counts, unclearColumns, currency: areClear && others.length === 0 ? currency : undefined };
}

/** The cells of each column that say something. Most rows may be much shorter than the widest one. */
function* filledCells(rows: readonly (readonly string[])[]): Generator<void, string[][]> {
  const columns: string[][] = [];
  let read = 0;
  for (const row of rows) {
    read += row.length;
    if (read >= CELLS_PER_STEP) {
      yield;
      read = row.length;
    }
    for (const [column, text] of row.entries()) {
      const cell = text.trim();
      if (cell !== '' && !NOTHING.test(cell)) (columns[column] ??= []).push(cell);
    }
  }
  return columns;
}

/**
 * Whether the lone dots of a column group digits, as far as the column itself shows: by a decimal comma, two groups, or a
 * currency, or by a whole number without a dot beside one that ends in zero. A decimal dot shows the opposite, also among
 * texts. Programs write decimals with a dot, whatever the amounts beside them look like; but they end them in no zeros, or
 * all at the same place. Without lone dots there is nothing to group, unless some follow below the sample.
 */
function groupsByDots(
  cells: readonly string[],
  { comma, dot, currencies }: ColumnEvidence,
  isWhole: boolean,
): boolean {
  const lone = cells.filter((cell) => LONE_DOT.test(cell));
  if (dot > 0) return false;
  if (comma > 0 || currencies.length > 0) return true;
  if (lone.length === 0) return isWhole;
  return lone.some((cell) => cell.endsWith('0')) && cells.some((cell) => WHOLE.test(cell));
}

const add = (left: ColumnEvidence, right: ColumnEvidence): ColumnEvidence => ({
  comma: left.comma + right.comma,
  dot: left.dot + right.dot,
  unsureComma: left.unsureComma + right.unsureComma,
  dates: {
    DayMonthYear: left.dates.DayMonthYear + right.dates.DayMonthYear,
    MonthDayYear: left.dates.MonthDayYear + right.dates.MonthDayYear,
    YearMonthDay: left.dates.YearMonthDay + right.dates.YearMonthDay,
  },
  unsureDates: left.unsureDates + right.unsureDates,
  currencies: [],
});

/** Counts what a cell shows; returns whether it is a number or a date at all. */
function countCell(cell: string, evidence: ColumnEvidence): boolean {
  // Longer than any number or date with a time; most cells end here or at the first test.
  if (cell.length > 40 || !/\d/.test(cell)) return false;
  if (!/^[+-]?\d/.test(cell)) return countAmount(cell, evidence);
  if (countNumber(cell, evidence)) return true;
  if (YEAR_FIRST.test(cell)) evidence.dates.YearMonthDay++;
  else return countDate(cell, evidence) || SAME_EVERYWHERE.test(cell) || countAmount(cell, evidence);
  return true;
}

function countNumber(cell: string, evidence: ColumnEvidence): boolean {
  const bySpaces = GROUPED_BY_SPACES.exec(cell);
  if (GROUPED_BY_DOTS.test(cell) || bySpaces?.[1] === ',') evidence.comma++;
  else if (GROUPED_BY_COMMAS.test(cell) || bySpaces?.[1] === '.') evidence.dot++;
  else if (DECIMAL.test(cell)) countDecimal(cell, evidence);
  else return bySpaces !== null;
  return true;
}

/** A number with a currency, or a minus that is not in front of it. */
function countAmount(cell: string, evidence: ColumnEvidence): boolean {
  const amount = readAmount(cell);
  if (!amount) return false;
  const { digits, currency } = amount;
  if (!countNumber(digits, evidence) && !SAME_EVERYWHERE.test(digits)) return false;
  if (currency !== undefined) evidence.currencies.push(currency);
  return true;
}

function countDecimal(cell: string, evidence: ColumnEvidence): void {
  const [, whole, separator, fraction] = DECIMAL.exec(cell)!;
  const mayBeGrouped = fraction!.length === 3 && whole!.length <= 3 && whole !== '0';
  if (separator === ',') evidence[mayBeGrouped ? 'unsureComma' : 'comma']++;
  else if (!mayBeGrouped) evidence.dot++;
}

function countDate(cell: string, evidence: ColumnEvidence): boolean {
  const [, first, separator, second] = DATE.exec(cell) ?? [];
  if (first === undefined) return false;
  const isDayFirst = separator === '.' || Number(first) > 12;
  const isMonthFirst = Number(second) > 12;
  if (isDayFirst && isMonthFirst) return false;
  if (isDayFirst) evidence.dates.DayMonthYear++;
  else if (isMonthFirst) evidence.dates.MonthDayYear++;
  else evidence.unsureDates++;
  return true;
}

/** The separator that most cells show; `culture` where they are ambiguous, undefined where they show none. */
function decimalSeparatorOf({ comma, dot, unsureComma }: CellEvidence): '.' | ',' | 'culture' | undefined {
  if (comma > dot) return ',';
  if (dot > 0) return '.';
  return unsureComma > 0 ? 'culture' : undefined;
}

/** The order that the dates show; `culture` where they are ambiguous, undefined where there are none. */
function dateOrderOf({ dates, unsureDates }: CellEvidence): DateOrder | 'culture' | undefined {
  const shown = (Object.entries(dates) as [DateOrder, number][]).filter(([, count]) => count > 0);
  if (shown.length > 0) return shown.sort(([, left], [, right]) => right - left)[0]![0];
  return unsureDates > 0 ? 'culture' : undefined;
}

/** Whether the sample has dates and none of them can be read in this order. */
export function contradictsDates({ dates, unsureDates }: CellEvidence, order: DateOrder): boolean {
  const readable = dates[order] + dates.YearMonthDay + (order === 'YearMonthDay' ? 0 : unsureDates);
  return readable === 0 && dates.DayMonthYear + dates.MonthDayYear + unsureDates > 0;
}

/** Whether the sample has decimals and none of them can be read with this separator. */
export const contradictsSeparator = (
  { comma, dot, unsureComma }: CellEvidence,
  separator: '.' | ',',
): boolean => (separator === ',' ? dot > 0 && comma + unsureComma === 0 : comma > 0 && dot === 0);

/** The conventions of a culture: the separator of its decimals and the order of its dates. */
function conventionsOf(culture: string): { decimalSeparator: '.' | ','; dateOrder: DateOrder } {
  const number = new Intl.NumberFormat(culture).formatToParts(1.5);
  const parts = new Intl.DateTimeFormat(culture, { calendar: 'gregory' })
    .formatToParts(0)
    .map(({ type }) => type)
    .filter((type) => ['day', 'month', 'year'].includes(type));
  const order = { day: 'DayMonthYear', month: 'MonthDayYear', year: 'YearMonthDay' } as const;
  return {
    decimalSeparator: number.some(({ type, value }) => type === 'decimal' && value === ',') ? ',' : '.',
    dateOrder: order[parts[0] as keyof typeof order] ?? 'DayMonthYear',
  };
}

/** The format of the cells of a file: as they show it, and where they are ambiguous by the conventions of a culture. */
export async function cellFormatOf(
  evidence: CellEvidence,
  cultureOf: () => Promise<string>,
): Promise<
  Pick<CsvFormat, 'decimalSeparator' | 'hasOtherDecimals' | 'unclearColumns' | 'currency'> & DateFormat
> {
  const separator = decimalSeparatorOf(evidence);
  const order = dateOrderOf(evidence);
  const isAmbiguous = separator === 'culture' || order === 'culture';
  const conventions = isAmbiguous ? conventionsOf(await cultureOf()) : undefined;
  const decimalSeparator = separator === 'culture' ? conventions!.decimalSeparator : separator;
  const unclearColumns = decimalSeparator === undefined ? [] : evidence.unclearColumns[decimalSeparator];
  const numbers = {
    ...(decimalSeparator === undefined ? {} : { decimalSeparator }),
    ...(evidence.comma > 0 && evidence.dot > 0 ? { hasOtherDecimals: true } : {}),
    ...(unclearColumns.length > 0 ? { unclearColumns } : {}),
    ...(evidence.currency === undefined ? {} : { currency: evidence.currency }),
  };
  return { ...numbers, ...dateFormatOf(order, conventions?.dateOrder) };
}

/** @param usual the order of a culture, which decides where the dates fit more than one */
function dateFormatOf(order: ReturnType<typeof dateOrderOf>, usual: DateOrder | undefined): DateFormat {
  if (order === undefined) return {};
  return order === 'culture'
    ? { dateOrder: usual, dateOrderFrom: 'Culture' }
    : { dateOrder: order, dateOrderFrom: 'File' };
}

/** The order of the dates that a workbook has as texts: those that are dates of the spreadsheet have none. */
export async function textDatesOf(
  evidence: CellEvidence,
  cultureOf: () => Promise<string>,
): Promise<DateFormat> {
  const order = dateOrderOf(evidence);
  return dateFormatOf(order, order === 'culture' ? conventionsOf(await cultureOf()).dateOrder : undefined);
}
