import { acceptedCultures } from '@plinth/kernel/accepted-cultures';
import { DEFAULT_CULTURE } from './languages';

/** A culture, its parents, and the default, most specific first: `fr-CA`, `fr`, `en`. */
export function fallbackChain(culture: string): string[] {
  const chain = [culture, ...parentsOf(culture)];
  return chain.includes(DEFAULT_CULTURE) ? chain : [...chain, DEFAULT_CULTURE];
}

/** The parents of a culture by RFC 4647, 3.4: without the last part, and without a single letter before it. */
function parentsOf(culture: string): string[] {
  const parts = culture.split('-').slice(0, -1);
  if (parts.at(-1)?.length === 1) parts.pop();
  return parts.length === 0 ? [] : [parts.join('-'), ...parentsOf(parts.join('-'))];
}

/** The culture itself or its nearest parent that is known. */
export const findCulture = (culture: string, isKnown: (culture: string) => boolean): string | undefined =>
  [culture, ...parentsOf(culture)].find(isKnown);

/**
 * The known culture that an `Accept-Language` prefers, or undefined where it names none.
 * Unknown languages are skipped, `fr-BE` finds `fr`, and a malformed header counts as absent.
 */
export function negotiateCulture(
  acceptLanguage: string | undefined,
  isKnown: (culture: string) => boolean,
): string | undefined {
  for (const range of acceptedCultures(acceptLanguage)) {
    const found = range === '*' ? DEFAULT_CULTURE : findCulture(range, isKnown);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What may decide about the culture of a response, the strongest first. */
export interface CulturePreferences {
  /** The culture in the URL; it decides alone. */
  requested: string | undefined;
  /** The setting of the signed-in caller. */
  preferred: string | undefined;
  acceptLanguage: string | undefined;
}

/** The culture of a response; the default where no preference fits. */
export function chooseCulture(
  { requested, preferred, acceptLanguage }: CulturePreferences,
  isKnown: (culture: string) => boolean,
): string {
  if (requested !== undefined) return findCulture(requested, isKnown) ?? DEFAULT_CULTURE;
  const preference = preferred === undefined ? undefined : findCulture(preferred, isKnown);
  return preference ?? negotiateCulture(acceptLanguage, isKnown) ?? DEFAULT_CULTURE;
}
