import { composed, isLongerThan } from '@plinth/kernel/composed';
import { parseTimestamp } from '@plinth/kernel/list-query';
import { isUnstorable, lengthOf } from '@plinth/kernel/text';
import { isUuid } from '@plinth/kernel/uuid';
import { breaksRule, CellError, notOfType, type ExchangeField, type FieldOptions } from './field';
import { clearDay } from './import/clear-day';
import { withoutMidnight } from './import/midnight';
import { rowMessage } from './row-message';

interface TextOptions extends FieldOptions {
  lengthMax: number;
  /** Store it in Unicode's composed form, so that what looks equal is equal. */
  compose?: boolean;
  allowsEmpty?: boolean;
  /** Rules beyond the length; returns the text that is stored. */
  refine?(text: string): string | CellError;
}

export function textField({ lengthMax, compose, refine, ...options }: TextOptions): ExchangeField {
  return {
    ...options,
    type: 'string',
    filterType: 'string',
    sqlType: 'text',
    parse(text) {
      if (isUnstorable(text)) return notOfType('Text', rowMessage('text'));
      const tooLong = () => breaksRule('MaximumLength', rowMessage('maximumLength', lengthMax));
      if (isLongerThan(lengthMax, text)) return tooLong();
      const value = compose ? composed(text) : text;
      if (value === undefined) return breaksRule('Format', rowMessage('notValid'));
      // Code points are counted only where the number of code units leaves a doubt.
      if (value.length > lengthMax && lengthOf(value) > lengthMax) return tooLong();
      return refine ? refine(value) : value;
    },
  };
}

export function integerField(options: FieldOptions & { min?: number; max?: number }): ExchangeField {
  return {
    ...options,
    type: 'integer',
    filterType: 'integer',
    sqlType: 'bigint',
    parse: (text) =>
      /^[+-]?\d{1,15}$/.test(text.trim())
        ? inRange(Number(text), options)
        : notOfType('Integer', rowMessage('integer')),
  };
}

export function numberField(options: FieldOptions & { min?: number; max?: number }): ExchangeField {
  return {
    ...options,
    type: 'number',
    filterType: 'number',
    sqlType: 'numeric',
    parse(text) {
      const trimmed = text.trim();
      if (!/^[+-]?(\d{1,20}(\.\d{1,20})?|\.\d{1,20})([eE][+-]?\d{1,2})?$/.test(trimmed))
        return notOfType('Number', rowMessage('number'));
      const checked = inRange(Number(trimmed), options);
      // The text goes to the database as it is: a double would lose digits.
      return checked instanceof CellError ? checked : trimmed;
    },
  };
}

function inRange(value: number, { min, max }: { min?: number; max?: number }): number | CellError {
  if (min !== undefined && value < min) return breaksRule('Range', rowMessage('atLeast', min));
  if (max !== undefined && value > max) return breaksRule('Range', rowMessage('atMost', max));
  return value;
}

const truths = new Map<string, boolean>([
  ...['true', 't', 'yes', 'y', 'on', '1', 'oui', 'vrai', 'ja', 'wahr', 'sí', 'si', 'verdadero', 'x', '✓'].map(
    (word) => [word, true] as const,
  ),
  ...['false', 'f', 'no', 'n', 'off', '0', 'non', 'faux', 'nein', 'falsch', 'falso'].map(
    (word) => [word, false] as const,
  ),
]);

export const booleanField = (options: FieldOptions): ExchangeField => ({
  ...options,
  type: 'boolean',
  filterType: 'boolean',
  sqlType: 'boolean',
  parse: (text) => truths.get(text.trim().toLowerCase()) ?? notOfType('Boolean', rowMessage('boolean')),
});

export const timestampField = (options: FieldOptions): ExchangeField => ({
  ...options,
  type: 'timestamp',
  filterType: 'timestamp',
  sqlType: 'timestamptz',
  parse(text) {
    const trimmed = text.trim();
    const instant = parseTimestamp(trimmed.replace(' ', 'T')) ?? parseTimestamp(clearDay(trimmed) ?? '');
    return instant?.toISOString() ?? notOfType('Timestamp', rowMessage('timestamp', '2026-11-21T10:00:00Z'));
  },
});

export const dateField = (options: FieldOptions): ExchangeField => ({
  ...options,
  type: 'date',
  filterType: 'timestamp',
  sqlType: 'date',
  format: 'yyyy-MM-dd',
  parse(text) {
    const trimmed = withoutMidnight(text.trim());
    const day = /^\d{4}-\d\d-\d\d$/.test(trimmed) ? trimmed : clearDay(trimmed);
    const date = day === undefined ? undefined : parseTimestamp(day);
    return date !== undefined && date.toISOString().slice(0, 10) === day
      ? day
      : notOfType('Date', rowMessage('date', '2026-11-21'));
  },
});

export const uuidField = (options: FieldOptions): ExchangeField => ({
  ...options,
  type: 'uuid',
  filterType: 'uuid',
  sqlType: 'uuid',
  parse: (text) => (isUuid(text.trim()) ? text.trim().toLowerCase() : notOfType('Uuid', rowMessage('uuid'))),
});

/** `E-mail` and `in review` are the values `Email` and `InReview`. */
const lettersOf = (text: string): string => text.toLowerCase().replace(/[\s_-]+/g, '');

export function enumField(options: FieldOptions & { values: Record<string, string> }): ExchangeField {
  const byName = new Map(
    Object.entries(options.values).flatMap(([name, value]) => [
      [lettersOf(name), value],
      [lettersOf(value), value],
    ]),
  );
  return {
    ...options,
    type: 'enum',
    filterType: 'enum',
    sqlType: 'text',
    parse: (text) =>
      byName.get(lettersOf(text)) ??
      breaksRule('Enum', rowMessage('enum', Object.keys(options.values).join(', '))),
  };
}
