import { chooseCulture, type CulturePreferences } from '../domain/culture';
import type { CultureTexts, TextCache } from '../store/text-cache';

/** A tenant's texts in the culture that fits the preferences best. */
export async function readTexts(
  texts: TextCache,
  tenantId: string,
  preferences: CulturePreferences,
): Promise<CultureTexts> {
  const known = await texts.cultures(tenantId);
  const culture = chooseCulture(preferences, (candidate) => known.has(candidate));
  return texts.read(tenantId, culture);
}
