import { localizationEndpoints } from '@plinth/contracts/localization/endpoints';
import { createService } from '@plinth/http/api';
import type { Express } from 'express';
import type { Deps } from './compose';
import { mountBootstrap } from './routes/bootstrap';
import { endpointsWithoutStore, mountMissingStore } from './routes/missing-override-store';
import { mountOverrides } from './routes/overrides';
import { mountTexts } from './routes/texts';

export function createApp(deps: Deps): Express {
  const { base, overrides, textChecks, textList } = deps;
  return createService(
    'localization',
    overrides ? localizationEndpoints : endpointsWithoutStore,
    deps,
    (api) => {
      mountBootstrap(api, deps);
      if (overrides && textList) {
        mountTexts(api, { base, textList });
        mountOverrides(api, { base, overrides, textChecks });
      } else {
        mountMissingStore(api);
      }
    },
  );
}
