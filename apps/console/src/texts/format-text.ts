import { IntlMessageFormat } from 'intl-messageformat';

export type TextValues = Record<string, string | number | Date>;

const formats = new Map<string, IntlMessageFormat>();

/** Fills the placeholders of a text, `{0}` or `{name}`, and chooses its plural forms. */
export function formatText(text: string, culture: string, values: TextValues = {}): string {
  if (!text.includes('{')) return text;
  const name = `${culture}\n${text}`;
  const format = formats.get(name) ?? new IntlMessageFormat(text, culture);
  formats.set(name, format);
  return String(format.format(values));
}
