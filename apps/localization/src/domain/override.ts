import { comparePlaceholders } from '@plinth/kernel/placeholders';
import { placeholdersDiffer } from './problems';
import { baseText, type BaseTexts, type Override } from './texts';

/**
 * Stops an override that takes other values than the text it replaces.
 * Where the platform has no text for the key, the tenant's own may take any.
 * @throws Problem `invalid`
 */
export function requireSamePlaceholders(base: BaseTexts, override: Override): void {
  const replaced = baseText(base, override);
  const difference = replaced === undefined ? undefined : comparePlaceholders(replaced, override.value);
  if (difference) throw placeholdersDiffer(difference);
}
