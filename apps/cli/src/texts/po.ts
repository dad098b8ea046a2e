import { po } from 'gettext-parser';
import type { TextFile, TextUnit } from './text-file';

/** Between resource and key in the context of a message. */
const SEPARATOR = '::';

/** The one text that the parser of PO files loses, because it keeps messages as members of objects. */
const LOST_TEXT = '__proto__';

/**
 * The messages have their resource and key as context: equal texts can be translated differently.
 * @throws Error for a text that a PO file would not give back
 */
export function toPo({ units, targetCulture }: TextFile): string {
  const translations: Record<string, Record<string, object>> = {
    '': { '': { msgid: '', msgstr: [''] } },
  };
  for (const { resource, key, source, target } of units) {
    if (source === LOST_TEXT) throw new Error(`the text "${source}" of ${key} cannot be in a PO file`);
    const msgctxt = `${resource}${SEPARATOR}${key}`;
    (translations[msgctxt] ??= {})[source] = { msgctxt, msgid: source, msgstr: [target] };
  }
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', Language: targetCulture };
  return po.compile({ charset: 'utf-8', headers, translations } as never).toString();
}

/** @throws Error for a message without resource and key */
export function fromPo(text: string): TextUnit[] {
  const { translations } = po.parse(text);
  return Object.entries(translations).flatMap(([context, messages]) =>
    Object.values(messages)
      .filter(({ msgid }) => context !== '' || msgid !== '')
      .map(({ msgid, msgstr }) => {
        const [resource, ...rest] = context.split(SEPARATOR);
        if (!resource || rest.length === 0)
          throw new Error(`the message "${msgid}" names no resource and key`);
        return { resource, key: rest.join(SEPARATOR), source: msgid, target: msgstr[0] ?? '' };
      }),
  );
}
