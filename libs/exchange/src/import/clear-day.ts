import { plain } from '@plinth/kernel/composed';
import { isCalendarDay } from '@plinth/kernel/instant';
import { SHORT_CELL_MAX } from './short-cell';

/** ISO 8601 without hyphens. With its day or month first, the last four digits would be no year of these centuries. */
const COMPACT = /^((?:1[89]|2[01])\d\d)(\d\d)(\d\d)$/;
const DAY_FIRST = /^(\d{1,2})(?:st|nd|rd|th)?[ .-]{1,2}(\p{L}{3,12})[ .,-]{1,2}(\d{4})$/u;
const MONTH_FIRST = /^(\p{L}{3,12})[ .-]{1,2}(\d{1,2})(?:st|nd|rd|th)?[ ,-]{1,2}(\d{4})$/u;

const LANGUAGES = ['en', 'fr', 'de', 'es', 'it'];

/**
 * The date that a text is in every country, as ISO 8601: `20010304`, `4-Mar-2001`, `March 4, 2001`. Undefined for all others,
 * and for years of two digits: `4-Mar-01` may as well be a day of 2004.
 */
export function clearDay(text: string): string | undefined {
  if (text.length < 8 || text.length > SHORT_CELL_MAX) return undefined;
  const compact = COMPACT.exec(text);
  if (compact) return existing(compact[1]!, compact[2]!, compact[3]!);
  const [, day, name, year] = DAY_FIRST.exec(text) ?? [];
  if (name !== undefined) return existing(year!, monthOf(name), day!);
  const [, first, second, last] = MONTH_FIRST.exec(text) ?? [];
  return first === undefined ? undefined : existing(last!, monthOf(first), second!);
}

function existing(year: string, month: string | undefined, day: string): string | undefined {
  if (month === undefined) return undefined;
  const date = `${year}-${month}-${day.padStart(2, '0')}`;
  return isCalendarDay(date) ? date : undefined;
}

let months: ReadonlyMap<string, string> | undefined;
const monthOf = (name: string): string | undefined => (months ??= monthsByName()).get(plainName(name));

const plainName = (name: string): string => plain(name).replaceAll('.', '');

/** The names of months, whole and abbreviated; none means another month in another of these languages. */
function monthsByName(): ReadonlyMap<string, string> {
  const byName = new Map<string, string>();
  for (const language of LANGUAGES)
    for (const width of ['long', 'short'] as const) {
      const { format } = new Intl.DateTimeFormat(language, { month: width, timeZone: 'UTC' });
      for (let month = 0; month < 12; month++)
        byName.set(plainName(format(Date.UTC(2001, month))), String(month + 1).padStart(2, '0'));
    }
  return byName;
}
