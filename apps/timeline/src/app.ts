import { createService } from '@plinth/conventions/api';
import { timelineEndpoints } from '@plinth/contracts/timeline/endpoints';
import type { Express } from 'express';
import type { Deps } from './compose';
import { mountBlobs } from './routes/blobs';
import { mountEntries } from './routes/entries';
import { mountFollowers } from './routes/followers';
import { mountMentions } from './routes/mentions';
import { mountNotifications } from './routes/notifications';
import { seeingCallers } from './routes/seeing-callers';

export const createApp = (deps: Deps): Express =>
  createService('timeline', timelineEndpoints, deps, (plain) => {
    const api = seeingCallers(plain, deps);
    mountEntries(api, deps);
    mountFollowers(api, deps);
    mountMentions(api, deps);
    mountNotifications(api, deps);
    mountBlobs(api, deps);
  });
