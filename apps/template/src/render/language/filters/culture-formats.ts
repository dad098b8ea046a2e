import { BoundedMap } from '@plinth/kernel/bounded-map';
import type { Meter } from '../meter';
import { TemplateError } from '../syntax';

const FORMATTERS_MAX = 500;
/** Making a formatter takes up to a millisecond, which is as much as so many steps. */
const FORMATTER_STEPS = 2_048;
const formatters = new BoundedMap<string, Intl.NumberFormat | Intl.DateTimeFormat>(FORMATTERS_MAX);

/** Formatters are slow to make and quick to use, so the ones made are kept. */
function formatter<Kind extends Intl.NumberFormat | Intl.DateTimeFormat>(
  key: string,
  meter: Meter,
  make: () => Kind,
): Kind {
  const known = formatters.get(key) as Kind | undefined;
  if (known) return known;
  meter.step(FORMATTER_STEPS);
  const made = make();
  formatters.set(key, made);
  return made;
}

function orExplain<Result>(what: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError)
      throw new TemplateError(`${what} cannot be used: ${error.message}.`, undefined);
    throw error;
  }
}

export interface NumberStyle extends Intl.NumberFormatOptions {
  culture: string;
}

export function formatNumber(value: number, { culture, ...style }: NumberStyle, meter: Meter): string {
  const key = `number ${culture} ${JSON.stringify(style)}`;
  return orExplain('This number format', () =>
    formatter(key, meter, () => new Intl.NumberFormat(culture, style)).format(value),
  );
}

const lengths = ['short', 'medium', 'long', 'full'] as const;
type Length = (typeof lengths)[number];
const isLength = (text: string): text is Length => (lengths as readonly string[]).includes(text);

export interface DateStyle {
  culture: string;
  timeZone: string;
  /** `short`, `medium`, `long`, `full`, `iso`, or a pattern like `dd.MM.yyyy HH:mm`. */
  style: string;
  parts: 'date' | 'time' | 'both';
}

/** A date or an instant as text; a date without a time is the same day everywhere. */
export function formatDate(
  instant: Date,
  isWholeDay: boolean,
  { culture, style, parts, ...rest }: DateStyle,
  meter: Meter,
): string {
  const timeZone = isWholeDay ? 'UTC' : rest.timeZone;
  if (style === 'iso')
    return isWholeDay || parts === 'date' ? instant.toISOString().slice(0, 10) : instant.toISOString();
  if (!isLength(style)) return formatPattern(instant, style, { culture, timeZone }, meter);
  const options: Intl.DateTimeFormatOptions = {
    timeZone,
    ...(parts !== 'time' ? { dateStyle: style } : {}),
    ...(parts !== 'date' ? { timeStyle: style === 'full' || style === 'long' ? 'medium' : 'short' } : {}),
  };
  return orExplain('This time zone', () =>
    formatter(
      `date ${culture} ${JSON.stringify(options)}`,
      meter,
      () => new Intl.DateTimeFormat(culture, options),
    ).format(instant),
  );
}

type Part = Intl.DateTimeFormatOptions;

const patternParts: Record<string, { options: Part; type: Intl.DateTimeFormatPartTypes; pad?: number }> = {
  yyyy: { options: { year: 'numeric' }, type: 'year', pad: 4 },
  yy: { options: { year: '2-digit' }, type: 'year', pad: 2 },
  MMMM: { options: { month: 'long', day: 'numeric' }, type: 'month' },
  MMM: { options: { month: 'short', day: 'numeric' }, type: 'month' },
  MM: { options: { month: '2-digit' }, type: 'month', pad: 2 },
  M: { options: { month: 'numeric' }, type: 'month' },
  dddd: { options: { weekday: 'long' }, type: 'weekday' },
  ddd: { options: { weekday: 'short' }, type: 'weekday' },
  dd: { options: { day: '2-digit' }, type: 'day', pad: 2 },
  d: { options: { day: 'numeric' }, type: 'day' },
  HH: { options: { hour: '2-digit', hourCycle: 'h23' }, type: 'hour', pad: 2 },
  H: { options: { hour: 'numeric', hourCycle: 'h23' }, type: 'hour' },
  hh: { options: { hour: '2-digit', hourCycle: 'h12' }, type: 'hour', pad: 2 },
  h: { options: { hour: 'numeric', hourCycle: 'h12' }, type: 'hour' },
  mm: { options: { minute: '2-digit' }, type: 'minute', pad: 2 },
  ss: { options: { second: '2-digit' }, type: 'second', pad: 2 },
  tt: { options: { hour: 'numeric', hourCycle: 'h12' }, type: 'dayPeriod' },
};

/** Patterns name their parts; text between apostrophes stands as it is. */
function formatPattern(
  instant: Date,
  pattern: string,
  { culture, timeZone }: Pick<DateStyle, 'culture' | 'timeZone'>,
  meter: Meter,
): string {
  return pattern
    .slice(0, 200)
    .replace(
      /'([^']*)'|y{4}|yy|M{1,4}|d{1,4}|HH?|hh?|mm|ss|tt/g,
      (part: string, quoted: string | undefined) => {
        if (quoted !== undefined) return quoted;
        const rule = patternParts[part];
        if (!rule) return part;
        const options = { ...rule.options, timeZone };
        const isWord = ['long', 'short'].includes(String(options.month ?? options.weekday ?? ''));
        const language = isWord || rule.type === 'dayPeriod' ? culture : 'en-u-nu-latn';
        const parts = orExplain('This time zone', () =>
          formatter(
            `part ${language} ${JSON.stringify(options)}`,
            meter,
            () => new Intl.DateTimeFormat(language, options),
          ).formatToParts(instant),
        );
        const text = parts.find(({ type }) => type === rule.type)?.value ?? '';
        return rule.pad ? text.padStart(rule.pad, '0') : text;
      },
    );
}

/** Reads what data calls a date: ISO 8601 text or milliseconds since 1970. */
export function readDate(value: string | number): { instant: Date; isWholeDay: boolean } | undefined {
  const isWholeDay = typeof value === 'string' && /^\d{4}-\d\d-\d\d$/.test(value.trim());
  const text = typeof value === 'string' ? value.trim() : value;
  const hasZone = typeof text === 'number' || isWholeDay || /(Z|[+-]\d\d:?\d\d)$/i.test(text);
  const isIso = typeof text === 'number' || /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:?\d\d)?)?$/i.test(text);
  if (!isIso) return undefined;
  const instant = new Date(hasZone ? text : `${text}Z`);
  return Number.isNaN(instant.getTime()) ? undefined : { instant, isWholeDay };
}
