import type { Meter } from './meter';
import type { Value } from './values';

/** What filters and methods may use. */
export interface FilterContext {
  culture: string;
  timeZone: string;
  isMarkup: boolean;
  meter: Meter;
  text(value: Value): string;
  test(name: string, value: Value, args: Value[]): boolean;
}
