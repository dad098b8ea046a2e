import { escapeHtml } from '../escape';
import type { FilterContext } from '../filter-context';
import { TemplateError } from '../syntax';
import { isText, SafeText, type Value } from '../values';

export type Named = ReadonlyMap<string, Value>;
export type Filter = (input: Value, args: Value[], named: Named, context: FilterContext) => Value;

/** An argument, given at its place or by its name. */
export const argument = (args: Value[], named: Named, index: number, name: string): Value =>
  index < args.length ? args[index] : named.get(name);

export const fail = (message: string): never => {
  throw new TemplateError(message, undefined);
};

export const isNothing = (value: Value): value is undefined | null => value === undefined || value === null;

/** The text that a filter works on; what is missing or false has none. */
export const textOf = (input: Value, context: FilterContext): string =>
  input === false ? '' : context.text(input);

/** Markup that was cut or changed may be broken now; what is not a whole entity or tag is escaped. */
function escapeAgain(text: string): string {
  const whole = text.replace(/<(?![a-z/!])|&(?!#?\w+;)/gi, escapeHtml);
  const open = whole.indexOf('<', whole.lastIndexOf('>') + 1);
  return open === -1 ? whole : whole.slice(0, open) + escapeHtml(whole.slice(open));
}

/** Text made of a value: safe where that was safe and the change kept its markup whole. */
export const asSafeAs = (input: Value, text: string): Value =>
  input instanceof SafeText && input.safeIn === 'html' ? new SafeText(escapeAgain(text), 'html') : text;

/** A filter that changes text. */
export const changingText =
  (change: (text: string, args: Value[], context: FilterContext) => string): Filter =>
  (input, args, _named, context) => {
    const text = change(textOf(input, context), args, context);
    context.meter.make(text.length);
    return asSafeAs(input, text);
  };

/** The items of a list, or the characters of a text; nothing else has any. */
export function itemsOf(input: Value, { meter }: FilterContext): Value[] {
  if (Array.isArray(input)) {
    meter.make(input.length);
    return input;
  }
  if (!isText(input)) return [];
  const text = input instanceof SafeText ? input.text : input;
  meter.make(text.length);
  return [...text];
}
