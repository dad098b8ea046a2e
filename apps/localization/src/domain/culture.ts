import { acceptedCultures } from '@plinth/kernel/accepted-cultures';
import { DEFAULT_CULTURE } from './languages';

/** A culture, its parents, and the default, most specific first: `fr-CA`, `fr`, `en`. */
export function fallbackChain(culture: string): string[] {
  const chain = [culture, ...parentsOf(culture)];
  return chain.includes(DEFAULT_CULTURE) ? chain : [...chain, DEFAULT_CULTURE];
}

/** The parents of a culture by RFC 4647, 3.4: the last part goes, and a single letter that would then stand last. */
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
 * Languages nobody knows are skipped, `fr-BE` finds `fr`, and what cannot be read is as good as absent.
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

export interface Wishes {
  /** What the address asks for; it decides alone. */
  asked: string | undefined;
  /** What the signed-in caller prefers. */
  preferred: string | undefined;
  acceptLanguage: string | undefined;
}

/** The culture to answer in, from what is known of the one who asks; the default where nothing fits. */
export function chooseCulture(
  { asked, preferred, acceptLanguage }: Wishes,
  isKnown: (culture: string) => boolean,
): string {
  if (asked !== undefined) return findCulture(asked, isKnown) ?? DEFAULT_CULTURE;
  const preference = preferred === undefined ? undefined : findCulture(preferred, isKnown);
  return preference ?? negotiateCulture(acceptLanguage, isKnown) ?? DEFAULT_CULTURE;
}
