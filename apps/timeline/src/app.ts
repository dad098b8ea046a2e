import { timelineEndpoints } from '@plinth/contracts/timeline/endpoints';
import { createService, type Api } from '@plinth/http/api';
import type { Caller } from '@plinth/kernel/caller';
import type { Express } from 'express';
import type { Deps } from './compose';
import { mountBlobs } from './routes/blobs';
import { mountEntries } from './routes/entries';
import { mountFollowers } from './routes/followers';
import { mountMentions } from './routes/mentions';
import { mountNotifications } from './routes/notifications';

export const createApp = (deps: Deps): Express =>
  createService('timeline', timelineEndpoints, deps, (serviceApi) => {
    const api = recordingCallers(serviceApi, deps);
    mountEntries(api, deps);
    mountFollowers(api, deps);
    mountMentions(api, deps);
    mountNotifications(api, deps);
    mountBlobs(api, deps);
  });

/** Records every caller in the directory of people before the handler runs. */
const recordingCallers = (api: Api, { people }: Pick<Deps, 'people'>): Api => ({
  on: (endpoint, handler) =>
    api.on(endpoint, async (input) => {
      await people.record(input.caller as Caller);
      return handler(input);
    }),
});
