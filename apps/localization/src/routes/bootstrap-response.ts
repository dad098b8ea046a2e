import { languages } from '../domain/languages';
import type { CultureTexts } from '../store/text-cache';

export const toBootstrap = ({ culture, resources }: CultureTexts) => ({
  currentCulture: culture,
  cultureName: culture,
  resources,
  languages: [...languages],
});
