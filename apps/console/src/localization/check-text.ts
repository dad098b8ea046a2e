import { messagePlaceholders } from '@plinth/kernel/message';
import { comparePlaceholders, type PlaceholderDifference } from '@plinth/kernel/placeholders';

interface TextCheck {
  /** What would be refused: the text takes other values than the one it replaces. */
  difference: PlaceholderDifference | undefined;
  /** Braces that make no message: plural forms and numbers in them are written as they stand. */
  isNoMessage: boolean;
}

/** What the platform would say about a text, found by the reader that the platform itself uses. */
export const checkText = (platformValue: string | null, text: string): TextCheck => ({
  difference: platformValue === null ? undefined : comparePlaceholders(platformValue, text),
  isNoMessage: text.includes('{') && messagePlaceholders(text) === undefined,
});
