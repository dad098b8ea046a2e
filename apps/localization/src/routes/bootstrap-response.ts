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
