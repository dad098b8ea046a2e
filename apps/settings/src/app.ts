import { createService } from '@plinth/http/api';
import { settingsEndpoints } from '@plinth/contracts/settings/endpoints';
import type { Express } from 'express';
import type { Deps } from './compose';
import { mountApiKeys } from './routes/api-keys';
import { mountDefinitions } from './routes/definitions';
import { mountHistory } from './routes/history';
import { mountLocks } from './routes/locks';
import { mountSettings } from './routes/settings';

export const createApp = (deps: Deps): Express =>
  createService('settings', settingsEndpoints, deps, (api) => {
    mountSettings(api, deps);
    mountDefinitions(api, deps);
    mountHistory(api, deps);
    mountLocks(api, deps);
    mountApiKeys(api, deps);
  });
