import type { NumberKind } from './cell-styles.ts';

const DAY_MILLISECONDS = 86_400_000;
/** 1970-01-01 in days from the two beginnings of time. */
const EPOCH_1900 = 25_569;
const EPOCH_1904 = 24_107;
/** Excel counts a 29 February 1900, which never was. */
const LEAP_DAY_OF_1900 = 60;
/** 9999-12-31, the last day that spreadsheets know. */
const DAYS_MAX = 2_958_466;

/**
 * A number as a spreadsheet shows it: without the digits that only binary fractions have, as the date it means, or with
 * the zeros in front that its format asks for.
 */
export function numberText(raw: string, kind: NumberKind, isFrom1904: boolean): string {
  const value = Number(raw);
  if (raw.trim() === '' || !Number.isFinite(value)) return raw;
  if (kind === 'date' && value >= 0 && value < DAYS_MAX) return dateText(value, isFrom1904);
  if (kind === 'time' && value >= 0 && value < DAYS_MAX) return timeText(value);
  const text = String(Number(value.toPrecision(15)));
  return kind.startsWith('0') && /^\d+$/.test(text) ? text.padStart(kind.length, '0') : text;
}

function dateText(days: number, isFrom1904: boolean): string {
  const shifted = !isFrom1904 && days < LEAP_DAY_OF_1900 ? days + 1 : days;
  const instant = new Date(Math.round((shifted - (isFrom1904 ? EPOCH_1904 : EPOCH_1900)) * DAY_MILLISECONDS));
  return isoText(instant);
}

/** A date in ISO 8601 as a workbook may have it; what is none stays as it is written, such as 30 February. */
export function isoDateText(value: string): string {
  const instant = new Date(/T.*(Z|[+-]\d\d:\d\d)$|^[\d-]+$/.test(value) ? value : `${value}Z`);
  return Number.isNaN(instant.getTime()) || !isCalendarDay(value) ? value : isoText(instant);
}

/** As of `@plinth/kernel/instant`, which the process that reads workbooks does not load. */
function isCalendarDay(text: string): boolean {
  const day = text.slice(0, 'yyyy-MM-dd'.length);
  return new Date(`${day}T00:00:00Z`).getUTCDate() === Number(day.slice('yyyy-MM-'.length));
}

/** ISO 8601, a date alone at midnight. */
function isoText(instant: Date): string {
  const text = instant.toISOString();
  return text.endsWith('T00:00:00.000Z') ? text.slice(0, 10) : text;
}

function timeText(days: number): string {
  const seconds = Math.round(days * 86_400);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${two(Math.floor(seconds / 3_600))}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}

/** Removes the escapes for characters that XML cannot contain: `_x000D_`. */
export const unescapeText = (text: string): string =>
  text.includes('_x')
    ? text.replace(/_x([\da-f]{4})_/gi, (_whole, code: string) =>
        String.fromCharCode(Number.parseInt(code, 16)),
      )
    : text;
