import type { Meter } from './meter';
import type { Value } from './values';

/** What filters and methods may use. */
export interface FilterContext {
  culture: string;
  timeZone: string;
  isMarkup: boolean;
  meter: Meter;
  /** A value as text, where a missing one is empty. */
  text(value: Value): string;
  /** A value as text, where a missing one is the word for it. */
  word(value: Value): string;
  test(name: string, value: Value, args: Value[]): boolean;
}
