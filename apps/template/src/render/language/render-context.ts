import type { Meter } from './meter';
import type { Statement } from './syntax';
import type { Dict } from './values';

/** Everything that one rendering depends on besides the template itself. */
export interface RenderContext {
  culture: string;
  timeZone: string;
  /** Whether values are escaped for HTML. */
  isMarkup: boolean;
  /** The caller's data, by name. */
  variables: Dict;
  /** What every template has, also one that is imported without the context: `now`, `tenant`, `settings` and the like. */
  globals: Dict;
  /** The parsed template of that name, or undefined where the tenant has none. */
  template(name: string): Statement[] | undefined;
  /** The text of a key like `Invoice:total`, or undefined where there is none. */
  translate(key: string): string | undefined;
  meter: Meter;
}
