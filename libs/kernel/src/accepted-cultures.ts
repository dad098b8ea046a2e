/** No browser sends more. */
const RANGES_MAX = 50;
/** Without blanks around it; two parts of a pattern that both take the same blanks would be tried with all divisions of them. */
const RANGE = /^([a-z\d-]{1,35}|\*)(?:\s*;\s*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/i;

/**
 * The cultures of an `Accept-Language` in the order of preference; `*` stands for any.
 * Ranges that cannot be parsed, and those with `q=0`, are ignored.
 */
export function acceptedCultures(acceptLanguage = ''): string[] {
  const weighted = acceptLanguage.split(',', RANGES_MAX).flatMap((part) => {
    const [, range = '', quality = '1'] = RANGE.exec(part.trim()) ?? [];
    const culture = range === '*' ? range : canonical(range);
    return culture !== undefined && Number(quality) > 0 ? [{ culture, quality: Number(quality) }] : [];
  });
  return weighted.sort((left, right) => right.quality - left.quality).map(({ culture }) => culture);
}

function canonical(range: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(range)[0];
  } catch {
    return undefined;
  }
}
