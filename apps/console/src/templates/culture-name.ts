import type { Texts } from '../texts/texts';

/** A language in the reader's own words; of a template without one, that it is for all. */
export function cultureName({ t, culture: reader, languages }: Texts, culture: string | undefined): string {
  if (culture === undefined) return t('Console.templates.everyLanguage');
  const known = languages.find((language) => language.cultureName === culture);
  return known?.displayName ?? new Intl.DisplayNames([reader], { type: 'language' }).of(culture) ?? culture;
}
