import { formatMessage } from '@plinth/kernel/message';

export type TextValues = Record<string, string | number | Date>;

/**
 * Fills the placeholders of a text, `{0}` or `{name}`, and chooses its plural forms. A tenant writes texts too: of what
 * is no message, and of placeholders that the page has no value for, the text is shown as it is.
 */
export const formatText = (
  text: string,
  culture: string,
  values: TextValues = {},
  timeZone: string = ownTimeZone,
): string => formatMessage(text, values, { culture, timeZone });

const ownTimeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
