import { isCalendarDay } from '@plinth/kernel/instant';
import { notOfType, type CellError, type ExchangeFieldType } from '../field';
import { rowMessage } from '../row-message';
import { readAmount } from './amount';
import { withoutMidnight } from './midnight';

/** The order of day, month and year in dates that are not ISO 8601. */
export type DateOrder = 'DayMonthYear' | 'MonthDayYear' | 'YearMonthDay';

/** How a file writes numbers and dates. */
export interface CellFormat {
  /** Undefined or empty where no number of the file shows one: numbers have a dot then, and digits are not grouped. */
  decimalSeparator?: string | undefined;
  /** Currencies that stand before or behind numbers and are no part of them. */
  currencies?: readonly string[] | undefined;
  dateOrder?: string | undefined;
}

/** Converts a cell to what fields read: `1234.56`, `2026-11-21`. */
type ToPlain = (text: string) => string | CellError;

/** Spaces of every width and apostrophes group digits as well as dots or commas do, in India of two before the last three. */
const NUMBERS = {
  ',': /^([+-]?)(\d{1,3}(?:[.\s'’]\d{3})+|\d{1,20})?(?:,(\d{1,20}))?([eE][+-]?\d{1,2})?$/,
  '.': /^([+-]?)(\d{1,3}(?:[,\s'’]\d{3})+|\d{1,2}(?:,\d\d)+,\d{3}|\d{1,20})?(?:\.(\d{1,20}))?([eE][+-]?\d{1,2})?$/,
  '': /^([+-]?)(\d{1,20})?(?:\.(\d{1,20}))?([eE][+-]?\d{1,2})?$/,
};
/** What needs no conversion, as most numbers with a dot. */
const PLAIN_NUMBER = /^-?\d{1,20}(?:\.\d{1,20})?$/;
const LOCAL_DATE = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4})$/;
const YEAR_FIRST = /^(\d{4})([./])(\d{1,2})\2(\d{1,2})$/;
const ISO_START = /^\d{4}-\d\d-\d\d/;
const LOCAL_TIME = /^(\d{1,2}):(\d\d)(?::(\d\d(?:\.\d{1,9})?))?(?:\s*([AP])\.?M\.?)?$/i;

/** How the cells of a field are converted before it reads them; undefined where they need no conversion. */
export function toPlainCell(type: ExchangeFieldType, format: CellFormat): ToPlain | undefined {
  const { dateOrder, currencies = [] } = format;
  const decimalSeparator = format.decimalSeparator ?? '';
  switch (type) {
    case 'integer':
    case 'number':
      if (!isSeparator(decimalSeparator) || (decimalSeparator === '' && currencies.length === 0))
        return undefined;
      return (text) => plainNumber(text, decimalSeparator, currencies);
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

const isSeparator = (separator: string): separator is keyof typeof NUMBERS => separator in NUMBERS;

/** With a dot, what is no number is left to the field, which says so. */
function plainNumber(
  text: string,
  separator: keyof typeof NUMBERS,
  currencies: readonly string[],
): string | CellError {
  if (separator !== ',' && PLAIN_NUMBER.test(text)) return text;
  const plain = dottedNumber(text.trim(), separator) ?? plainAmount(text, separator, currencies);
  if (plain !== undefined) return plain;
  return separator === ',' ? notOfType('Number', rowMessage('numberLike', '1.234,56')) : text;
}

function dottedNumber(text: string, separator: keyof typeof NUMBERS): string | undefined {
  const [, sign, whole, fraction, exponent = ''] = NUMBERS[separator].exec(text) ?? [];
  if (whole === undefined && fraction === undefined) return undefined;
  return `${sign}${whole?.replace(/\D/g, '') ?? '0'}${fraction === undefined ? '' : `.${fraction}`}${exponent}`;
}

/** A currency that the file does not show in all of a column is no part to be left out: it is another amount. */
function plainAmount(
  text: string,
  separator: keyof typeof NUMBERS,
  currencies: readonly string[],
): string | undefined {
  const amount = readAmount(text);
  if (!amount || (amount.currency !== undefined && !currencies.includes(amount.currency))) return undefined;
  const number = dottedNumber(amount.digits, separator);
  return number !== undefined && amount.isNegative ? `-${number}` : number;
}

function plainDate(text: string, order: DateOrder): string | CellError {
  const trimmed = withoutMidnight(text.trim());
  return ISO_START.test(trimmed)
    ? trimmed
    : (isoDate(trimmed, order) ?? notOfType('Date', rowMessage('date', examples[order])));
}

function plainTimestamp(text: string, order: DateOrder): string | CellError {
  const trimmed = text.trim();
  if (ISO_START.test(trimmed)) return trimmed;
  const [, dateText = '', timeText] = /^(\S+?)(?:,?[\sT]+(.+))?$/.exec(trimmed) ?? [];
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
