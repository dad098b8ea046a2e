import type { FilterContext } from '../filter-context';
import { SafeText, toNumber, type Value } from '../values';
import { formatDate, formatNumber, readDate } from './culture-formats';
import { argument, fail, type Filter, type Named } from './filter';

const onNumber =
  (change: (number: number, args: Value[], named: Named, context: FilterContext) => Value): Filter =>
  (input, args, named, context) => {
    const number = toNumber(input);
    return Number.isNaN(number) ? (input ?? '') : change(number, args, named, context);
  };

const digitsOf = (args: Value[], named: Named): Intl.NumberFormatOptions => {
  const digits = argument(args, named, 0, 'digits');
  if (digits === undefined) return {};
  const count = Math.min(Math.max(Math.floor(toNumber(digits)) || 0, 0), 20);
  return { minimumFractionDigits: count, maximumFractionDigits: count };
};

const cultureOf = (named: Named, context: FilterContext): string => {
  const culture = named.get('culture');
  return culture === undefined ? context.culture : context.text(culture);
};

const currency: Filter = onNumber((number, args, named, context) => {
  const code = argument(args, named, 0, 'code');
  if (code === undefined) return fail('currency takes the code of a currency, such as currency("EUR").');
  const style: Intl.NumberFormatOptions = {
    style: 'currency',
    currency: context.text(code),
    ...digitsOf(args.slice(1), named),
  };
  return formatNumber(number, { culture: cultureOf(named, context), ...style }, context.meter);
});

const dating =
  (parts: 'date' | 'time' | 'both'): Filter =>
  (input, args, named, context) => {
    if (input === undefined || input === null || input === '') return '';
    const value = input instanceof SafeText ? input.text : input;
    const read = typeof value === 'string' || typeof value === 'number' ? readDate(value) : undefined;
    if (!read) return context.text(input);
    const style = argument(args, named, 0, 'style');
    const zone = argument(args, named, 1, 'zone');
    return formatDate(
      read.instant,
      read.isWholeDay && parts === 'date',
      {
        culture: cultureOf(named, context),
        timeZone: zone === undefined || zone === '' ? context.timeZone : context.text(zone),
        style: style === undefined ? 'medium' : context.text(style),
        parts,
      },
      context.meter,
    );
  };

/** Dates, numbers and currencies in the culture of the rendering. */
export const cultureFilters: Readonly<Record<string, Filter>> = {
  currency,
  date: dating('date'),
  datetime: dating('both'),
  number: onNumber((number, args, named, context) =>
    formatNumber(number, { culture: cultureOf(named, context), ...digitsOf(args, named) }, context.meter),
  ),
  percent: onNumber((number, args, named, context) =>
    formatNumber(
      number,
      { culture: cultureOf(named, context), style: 'percent', ...digitsOf(args, named) },
      context.meter,
    ),
  ),
  time: dating('time'),
};
