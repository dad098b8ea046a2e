import { cultureFilters } from './filters/culture-filters';
import type { Filter } from './filters/filter';
import { listFilters } from './filters/list-filters';
import { markupFilters } from './filters/markup-filters';
import { textFilters } from './filters/text-filters';

/** Every filter there is: those of Nunjucks, and dates, numbers and currencies by culture. */
export const filters: Readonly<Record<string, Filter>> = {
  ...textFilters,
  ...listFilters,
  ...markupFilters,
  ...cultureFilters,
};
