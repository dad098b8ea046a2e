import { isCalendarDay } from '@plinth/kernel/instant';
import { notOfType, type CellError, type ExchangeFieldType } from '../field';
import { rowMessage } from '../row-message';
import { readAmount } from './amount';
import { clearDay } from './clear-day';
import { withoutMidnight } from './midnight';
import { SHORT_CELL_MAX } from './short-cell';

/** The order of day, month and year in dates that are not ISO 8601. */
export type DateOrder = 'DayMonthYear' | 'MonthDayYear' | 'YearMonthDay';

/** How a file writes numbers and dates. */
export interface CellFormat {
  /** Undefined or empty where no number of the file shows one: numbers have a dot then, and digits are not grouped. */
  decimalSeparator?: string | undefined;
  /** What stands before or behind numbers and is no part of them; undefined or empty where the file has none or several. */
  currency?: string | undefined;
  /** Other numbers of the file have the other sign before their decimals, so that one before three digits says nothing. */
  hasOtherDecimals?: boolean | undefined;
  /** Indexes of the columns for which the same holds, whatever other columns show. */
  unclearColumns?: readonly number[] | undefined;
  dateOrder?: string | undefined;
}

/** Converts a cell to what fields read: `1234.56`, `2026-11-21`. */
type ToPlain = (text: string) => string | CellError;

/**
 * Spaces of every width and apostrophes group digits as well as dots or commas do, in India of two before the last three.
 * A number has one sign for all of its groups, which begin with no zero: `0,123` is no 123.
 */
const NUMBERS = {
  ',': /^([+-]?)([1-9]\d{0,2}([.\p{Zs}'’])\d{3}(?:\3\d{3})*|\d{1,20})?(?:,(\d{1,20}))?([eE][+-]?\d{1,2})?$/u,
  '.': /^([+-]?)([1-9]\d{0,2}([,\p{Zs}'’])\d{3}(?:\3\d{3})*|[1-9]\d?(?:,\d\d)+,\d{3}|\d{1,20})?(?:\.(\d{1,20}))?([eE][+-]?\d{1,2})?$/u,
};
/** What needs no conversion, as most numbers with a dot. */
const PLAIN_NUMBER = /^-?\d{1,20}(?:\.\d{1,20})?$/;
const LOCAL_DATE = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4})$/;
const YEAR_FIRST = /^(\d{4})([./])(\d{1,2})\2(\d{1,2})$/;
const ISO_START = /^\d{4}-\d\d-\d\d/;
const LOCAL_TIME = /^(\d{1,2}):(\d\d)(?::(\d\d(?:\.\d{1,9})?))?(?:\s*([AP])\.?M\.?)?$/i;

/** How the cells of a field are converted before it reads them; undefined where they need no conversion. */
export function toPlainCell(type: ExchangeFieldType, format: CellFormat): ToPlain | undefined {
  const { dateOrder, decimalSeparator, currency, hasOtherDecimals = false } = format;
  switch (type) {
    case 'integer':
    case 'number':
      if (isSeparator(decimalSeparator))
        return (text) => plainNumber(text, { decimalSeparator, currency, hasOtherDecimals });
      return currency ? (text) => wholeAmount(text, currency) ?? text : undefined;
    case 'date':
      return isDateOrder(dateOrder) ? (text) => plainDate(text, dateOrder) : undefined;
    case 'timestamp':
      return isDateOrder(dateOrder) ? (text) => plainTimestamp(text, dateOrder) : undefined;
    default:
      return undefined;
  }
}

const isDateOrder = (order: string | undefined): order is DateOrder =>
  order !== undefined && order in examples;

const examples: Record<DateOrder, string> = {
  DayMonthYear: '21.11.2026',
  MonthDayYear: '11/21/2026',
  YearMonthDay: '2026/11/21',
};

const isSeparator = (separator: string | undefined): separator is keyof typeof NUMBERS =>
  separator !== undefined && Object.hasOwn(NUMBERS, separator);

interface NumberFormat {
  decimalSeparator: keyof typeof NUMBERS;
  currency: string | undefined;
  hasOtherDecimals: boolean;
}

/** With a dot, what is no number is left to the field, which says so. */
function plainNumber(text: string, format: NumberFormat): string | CellError {
  const hasDot = format.decimalSeparator === '.';
  if (hasDot && PLAIN_NUMBER.test(text)) return text;
  const trimmed = text.trim();
  const plain = dottedNumber(trimmed, format) ?? plainAmount(text, format);
  if (plain !== undefined) return plain;
  if (format.hasOtherDecimals && THOUSANDS_OR_DECIMALS.test(readAmount(text)?.digits ?? ''))
    return notOfType('Number', rowMessage('unclearNumber'));
  return hasDot ? text : notOfType('Number', rowMessage('numberLike', '1.234,56'));
}

/** `1.234`: an only sign, which may stand before thousands or decimals. Thousands do not begin with a zero. */
const THOUSANDS_OR_DECIMALS = /^[1-9]\d{0,2}[.,]\d{3}$/;

function dottedNumber(
  text: string,
  { decimalSeparator, hasOtherDecimals }: NumberFormat,
): string | undefined {
  if (text.length > SHORT_CELL_MAX) return undefined;
  const [, sign, whole, , fraction, exponent = ''] = NUMBERS[decimalSeparator].exec(text) ?? [];
  if (whole === undefined && fraction === undefined) return undefined;
  if (hasOtherDecimals && fraction === undefined && THOUSANDS_OR_DECIMALS.test(whole!)) return undefined;
  return `${sign}${whole?.replace(/\D/g, '') ?? '0'}${fraction === undefined ? '' : `.${fraction}`}${exponent}`;
}

/**
 * Another currency than that of the file is no part to be left out: it is another amount. Three digits behind the only
 * sign of an amount with a currency are thousands nearly everywhere, whatever separates the decimals of other numbers of
 * the file: nothing says which `1.234 €` is.
 */
function plainAmount(text: string, format: NumberFormat): string | undefined {
  const amount = readAmount(text);
  if (!amount || (amount.currency !== undefined && amount.currency !== format.currency)) return undefined;
  const number = dottedNumber(amount.digits, format);
  const hasDecimals = number?.includes('.');
  if (hasDecimals && amount.currency !== undefined && THOUSANDS_OR_DECIMALS.test(amount.digits))
    return undefined;
  return number !== undefined && amount.isNegative ? `-${number}` : number;
}

/** Where no number of a file shows a separator, an amount is known if it has none. */
function wholeAmount(text: string, currency: string): string | undefined {
  const amount = readAmount(text);
  if (amount?.currency !== currency || !/^\d{1,20}$/.test(amount.digits)) return undefined;
  return amount.isNegative ? `-${amount.digits}` : amount.digits;
}

function plainDate(text: string, order: DateOrder): string | CellError {
  const trimmed = withoutMidnight(text.trim());
  return ISO_START.test(trimmed)
    ? trimmed
    : (clearDay(trimmed) ??
        isoDate(trimmed, order) ??
        notOfType('Date', rowMessage('date', examples[order])));
}

function plainTimestamp(text: string, order: DateOrder): string | CellError {
  const trimmed = text.trim();
  if (ISO_START.test(trimmed)) return trimmed;
  const day = clearDay(trimmed);
  if (day !== undefined) return day;
  const known = trimmed.length > SHORT_CELL_MAX ? '' : trimmed;
  const [, dateText = '', timeText] = /^(\S+?)(?:,?[\sT]+(.+))?$/.exec(known) ?? [];
  const date = isoDate(dateText, order);
  const time = timeText === undefined ? '' : isoTime(timeText);
  if (date === undefined || time === undefined)
    return notOfType('Timestamp', rowMessage('timestamp', `${examples[order]} 10:00`));
  return date + time;
}

function isoDate(text: string, order: DateOrder): string | undefined {
  const yearFirst = YEAR_FIRST.exec(text);
  if (yearFirst) return existing(yearFirst[1]!, yearFirst[3]!, yearFirst[4]!);
  const [, first, , second, year] = LOCAL_DATE.exec(text) ?? [];
  if (year === undefined || order === 'YearMonthDay') return undefined;
  return order === 'DayMonthYear' ? existing(year, second!, first!) : existing(year, first!, second!);
}

/** The date as ISO 8601, unless the calendar has no such day. */
function existing(year: string, month: string, day: string): string | undefined {
  const date = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
  return isCalendarDay(date) ? date : undefined;
}

function isoTime(text: string): string | undefined {
  const [, hours, minutes, seconds = '00', half] = LOCAL_TIME.exec(text) ?? [];
  if (hours === undefined || Number(hours) > 23) return undefined;
  if (half === undefined) return `T${hours.padStart(2, '0')}:${minutes}:${seconds}Z`;
  if (Number(hours) < 1 || Number(hours) > 12) return undefined;
  const hour = (Number(hours) % 12) + (half.toUpperCase() === 'P' ? 12 : 0);
  return `T${String(hour).padStart(2, '0')}:${minutes}:${seconds}Z`;
}
