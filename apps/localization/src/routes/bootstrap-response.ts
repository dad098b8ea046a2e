import { languages } from '../domain/languages';
import { pickResources } from '../domain/texts';
import type { CultureTexts } from '../store/text-cache';

/** Says that texts of the tenant were left out, because they have more characters than one response holds. */
export const INCOMPLETE = { 'X-Localization-Incomplete': 'true' };

export const toBootstrap = ({ culture, resources }: CultureTexts, resourceNames?: readonly string[]) => ({
  currentCulture: culture,
  cultureName: culture,
  resources: resourceNames ? pickResources(resources, resourceNames) : resources,
  languages: [...languages],
});

/**
 * What a response is kept by: names that there are not, and the same ones in another order or again, are no other response,
 * so that nobody who makes names up makes more of them.
 */
export const keyOfBootstrap = (
  { etag }: Pick<CultureTexts, 'etag'>,
  { resources }: Pick<ReturnType<typeof toBootstrap>, 'resources'>,
  resourceNames?: readonly string[],
): string => (resourceNames ? `${etag} of ${Object.keys(resources).sort().join()}` : etag);
