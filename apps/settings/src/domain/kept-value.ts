import { SHORT_TEXT_BYTES_MAX } from '@plinth/http/long-texts';

/** Of the beginning of a long value; each takes up to four bytes. */
const CHARACTERS_KEPT = SHORT_TEXT_BYTES_MAX / 4;

/** What the history keeps of a value: all of a short one, and of a long one the beginning. */
export function keptValue(value: string | null): string | null {
  if (value === null || Buffer.byteLength(value) <= SHORT_TEXT_BYTES_MAX) return value;
  const beginning = [...value.slice(0, 2 * CHARACTERS_KEPT)].slice(0, CHARACTERS_KEPT);
  return `${beginning.join('')}…`;
}
