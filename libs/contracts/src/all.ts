import type { ProblemType } from '@plinth/kernel/problem';
import type { Endpoints } from './endpoint';
import { dataExchangeEndpoints } from './data-exchange/endpoints';
import { dataExchangeProblems } from './data-exchange/problems';
import { localizationEndpoints } from './localization/endpoints';
import { localizationProblems } from './localization/problems';
import { platformProblems } from './platform/problems';
import { settingsEndpoints } from './settings/endpoints';
import { settingsProblems } from './settings/problems';
import { templateEndpoints } from './template/endpoints';
import { templateProblems } from './template/problems';
import { timelineEndpoints } from './timeline/endpoints';
import { timelineProblems } from './timeline/problems';
import { workflowEndpoints } from './workflow/endpoints';
import { workflowProblems } from './workflow/problems';
import { contactsEndpoints } from './contacts/endpoints';
import { contactsProblems } from './contacts/problems';

/** Every endpoint of the platform, by its service. */
export const allEndpoints = {
  'data-exchange': dataExchangeEndpoints,
  localization: localizationEndpoints,
  settings: settingsEndpoints,
  template: templateEndpoints,
  timeline: timelineEndpoints,
  workflow: workflowEndpoints,
  contacts: contactsEndpoints,
} satisfies Record<string, Endpoints>;

/** Every problem of the platform, by its slug. */
export const allProblems: Record<string, ProblemType> = {
  ...platformProblems,
  ...dataExchangeProblems,
  ...localizationProblems,
  ...settingsProblems,
  ...templateProblems,
  ...timelineProblems,
  ...workflowProblems,
  ...contactsProblems,
};
