import { arrangeBaseTexts } from '../domain/texts';
import consoleEn from './console/en.json';
import consoleEnGb from './console/en-GB.json';
import consoleFr from './console/fr.json';
import consoleFrCa from './console/fr-CA.json';
import dataExchangeEn from './data-exchange/en.json';
import dataExchangeEnGb from './data-exchange/en-GB.json';
import dataExchangeFr from './data-exchange/fr.json';
import dataExchangeFrCa from './data-exchange/fr-CA.json';
import localizationEn from './localization/en.json';
import localizationEnGb from './localization/en-GB.json';
import localizationFr from './localization/fr.json';
import permissionsEn from './permissions/en.json';
import permissionsEnGb from './permissions/en-GB.json';
import permissionsFr from './permissions/fr.json';
import permissionsFrCa from './permissions/fr-CA.json';
import platformEn from './platform/en.json';
import platformEnGb from './platform/en-GB.json';
import platformFr from './platform/fr.json';
import platformFrCa from './platform/fr-CA.json';
import problemsEn from './problems/en.json';
import problemsFr from './problems/fr.json';
import problemsFrCa from './problems/fr-CA.json';
import settingsEn from './settings/en.json';
import settingsFr from './settings/fr.json';
import templatingEn from './templating/en.json';
import templatingFr from './templating/fr.json';
import templatingFrCa from './templating/fr-CA.json';
import timelineEn from './timeline/en.json';
import timelineFr from './timeline/fr.json';
import validationEn from './validation/en.json';
import validationFr from './validation/fr.json';
import workflowEn from './workflow/en.json';
import workflowEnGb from './workflow/en-GB.json';
import workflowFr from './workflow/fr.json';

/** The platform's own texts. A regional file holds only what differs from its language. */
export const resourceFiles = {
  Console: [consoleEn, consoleEnGb, consoleFr, consoleFrCa],
  DataExchange: [dataExchangeEn, dataExchangeEnGb, dataExchangeFr, dataExchangeFrCa],
  Localization: [localizationEn, localizationEnGb, localizationFr],
  Permissions: [permissionsEn, permissionsEnGb, permissionsFr, permissionsFrCa],
  Platform: [platformEn, platformEnGb, platformFr, platformFrCa],
  Problems: [problemsEn, problemsFr, problemsFrCa],
  Settings: [settingsEn, settingsFr],
  Templating: [templatingEn, templatingFr, templatingFrCa],
  Timeline: [timelineEn, timelineFr],
  Validation: [validationEn, validationFr],
  Workflow: [workflowEn, workflowEnGb, workflowFr],
};

export const baseTexts = arrangeBaseTexts(resourceFiles);
