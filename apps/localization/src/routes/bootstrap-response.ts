import { languages } from '../domain/languages';
import { pickResources } from '../domain/texts';
import type { CultureTexts } from '../store/text-cache';

export const toBootstrap = ({ culture, resources }: CultureTexts, resourceNames?: readonly string[]) => ({
  currentCulture: culture,
  cultureName: culture,
  resources: resourceNames ? pickResources(resources, resourceNames) : resources,
  languages: [...languages],
});
