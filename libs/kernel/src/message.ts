import { IntlMessageFormat, type Formatters } from 'intl-messageformat';
import { BoundedMap } from './bounded-map';

/*
 * Texts with placeholders are ICU messages: `{0}`, `{name}`, `{count, plural, one {# row} other {# rows}}`, `select`,
 * `number`, `date` and `time`. Apostrophes quote nothing, so that `l'{0}` works in French.
 */

export type MessageValue = string | number | boolean | Date | null | undefined;

type Element = ReturnType<IntlMessageFormat['getAst']>[number];

interface Message {
  format: IntlMessageFormat;
  /** What each placeholder takes. */
  kinds: Map<string, Kind>;
  /** Whether values are only written into the text. */
  isPlain: boolean;
}

type Kind = 'text' | 'choice' | 'number' | 'date';

/** `type` of an element of a message. */
const kindOfElement: Record<number, Kind | undefined> = {
  1: 'text',
  2: 'number',
  3: 'date',
  4: 'date',
  5: 'choice',
  6: 'number',
};

/** Of all that are kept: tenants write texts, and a long one in memory is fifty times as large. */
const MESSAGES_LENGTH_MAX = 500_000;
/** A short message takes as much memory as so many characters of a long one. */
const MESSAGE_LENGTH_MIN = 200;
const messages = new Map<string, Message | undefined>();
let messagesLength = 0;

/** Reading a message takes longer than formatting it, and the same ones are formatted again and again. */
function messageOf(text: string, culture: string, timeZone: string): Message | undefined {
  const key = `${culture} ${timeZone} ${text}`;
  if (messages.has(key)) return messages.get(key);
  const length = MESSAGE_LENGTH_MIN + text.length;
  if (messagesLength + length > MESSAGES_LENGTH_MAX) {
    messages.clear();
    messagesLength = 0;
  }
  messagesLength += length;
  const message = readMessage(text, culture, timeZone);
  messages.set(key, message);
  return message;
}

function readMessage(text: string, culture: string, timeZone: string): Message | undefined {
  const formatters: Formatters = {
    getNumberFormat: fewOf(`number ${culture}`, (options) => new Intl.NumberFormat(culture, options)),
    getDateTimeFormat: fewOf(
      `date ${culture} ${timeZone}`,
      (options) => new Intl.DateTimeFormat(culture, { timeZone, ...options }),
    ),
    getPluralRules: fewOf(`plural ${culture}`, (options) => new Intl.PluralRules(culture, options)),
  };
  try {
    const options = { ignoreTag: true, locale: localeOf(culture) };
    const elements = IntlMessageFormat.__parse!(text.replaceAll("'", "''"), options);
    const format = new IntlMessageFormat(elements, culture, undefined, { formatters });
    const kinds: Message['kinds'] = new Map();
    collect(elements, kinds);
    return { format, kinds, isPlain: [...kinds.values()].every((kind) => kind === 'text') };
  } catch {
    // No ICU message, or one nested beyond measure.
    return undefined;
  }
}

/** A locale that is asked for its hour cycle once: the parser wants it at each `j` of a skeleton, and that takes 90 us. */
function localeOf(culture: string): Intl.Locale {
  const locale: Intl.Locale & { getHourCycles?: () => string[] } = new Intl.Locale(culture);
  let hourCycle: string | undefined;
  return Object.defineProperty(locale, 'hourCycle', {
    get: () => (hourCycle ??= locale.getHourCycles?.()[0]),
  });
}

/** Different formats of numbers, and of dates, in one message; to make one takes up to two milliseconds. */
const FORMATS_MAX = 20;
/** Of all messages together: one of a date takes 60 kB, which no limit of a heap counts. */
const FORMATTERS_MAX = 500;
const keptFormatters = new BoundedMap<string, unknown>(FORMATTERS_MAX);

/** The formatters of one message, which it shares with all others. @throws RangeError beyond `FORMATS_MAX` */
function fewOf<Options, Formatter>(kind: string, make: (options?: Options) => Formatter) {
  const used = new Set<string>();
  return (_locales?: string | string[], options?: Options): Formatter => {
    const key = `${kind} ${JSON.stringify(options ?? {})}`;
    if (used.add(key).size > FORMATS_MAX) throw new RangeError('The message has too many formats.');
    const known = keptFormatters.get(key) as Formatter | undefined;
    if (known !== undefined) return known;
    const formatter = make(options);
    keptFormatters.set(key, formatter);
    return formatter;
  };
}

function collect(elements: Element[], kinds: Message['kinds']): void {
  for (const element of elements) {
    const kind = kindOfElement[element.type];
    if (kind !== undefined && 'value' in element) {
      const known = kinds.get(element.value);
      kinds.set(element.value, known === undefined || known === 'text' ? kind : known);
    }
    if ('options' in element && element.options)
      for (const { value } of Object.values(element.options)) collect(value, kinds);
  }
}

/** The names of the placeholders of a text; undefined where it is no ICU message. */
export function messagePlaceholders(text: string): Set<string> | undefined {
  if (!text.includes('{')) return new Set();
  const message = messageOf(text, 'en', 'UTC');
  return message && new Set(message.kinds.keys());
}

/** How many values a text may have written into it: the `#` of a plural is filled like a placeholder. */
export const placeholderCount = (text: string): number => text.match(/[{#]/g)?.length ?? 0;

export interface MessageOptions {
  culture: string;
  /** Of dates and times. */
  timeZone?: string;
}

/**
 * A text with its placeholders filled, numbers, dates and plural forms as in the culture. A placeholder without a value
 * stays as it is, and so does everything but `{0}` and `{name}` in a text that is no ICU message.
 * @param values by name; the first value of a list is `{0}`
 */
export function formatMessage(
  text: string,
  values: readonly MessageValue[] | Readonly<Record<string, MessageValue>>,
  { culture, timeZone = 'UTC' }: MessageOptions,
): string {
  if (!text.includes('{')) return text;
  const given = new Map(Object.entries(values).filter(([, value]) => value !== undefined));
  // A day without a time is the same one everywhere.
  const isWholeDay = [...given.values()].some((value) => /^\d{4}-\d\d-\d\d$/.test(String(value)));
  const message = messageOf(text, culture, isWholeDay ? 'UTC' : timeZone);
  if (message && !message.isPlain) {
    try {
      const filled = [...message.kinds].map(([name, kind]) => [name, fitting(name, given.get(name), kind)]);
      return String(message.format.format(Object.fromEntries(filled)));
    } catch {
      // A value is missing that a plural form or a date depends on, or there are too many formats.
    }
  }
  return text.replace(/\{\s*([\p{L}\p{N}_.-]+)\s*\}/gu, (placeholder, name: string) =>
    given.has(name) ? textOf(given.get(name)) : placeholder,
  );
}

const textOf = (value: MessageValue): string =>
  value instanceof Date ? value.toISOString() : String(value ?? '');

/** A value as its placeholder takes it. */
function fitting(name: string, value: MessageValue, kind: Kind): string | number | Date {
  if (kind === 'choice' && value === undefined) throw new RangeError(`{${name}} takes a value`);
  if (kind === 'text' || kind === 'choice') return value === undefined ? `{${name}}` : textOf(value);
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (kind === 'number' && typeof number === 'number' && !Number.isNaN(number)) return number;
  const date =
    kind === 'date' && value !== null && typeof value !== 'boolean'
      ? new Date(value ?? Number.NaN)
      : undefined;
  if (date !== undefined && !Number.isNaN(date.getTime())) return date;
  throw new RangeError(`{${name}} takes a ${kind}`);
}
