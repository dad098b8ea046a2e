import { createService } from '@plinth/http/api';
import { templateEndpoints } from '@plinth/contracts/template/endpoints';
import type { Express } from 'express';
import type { Deps } from './compose';
import { mountCategories } from './routes/categories';
import { mountGallery } from './routes/gallery';
import { mountLifecycle } from './routes/lifecycle';
import { mountPreview } from './routes/preview';
import { mountRevisions } from './routes/revisions';
import { mountTemplates } from './routes/templates';

export const createApp = (deps: Deps): Express =>
  createService('template', templateEndpoints, deps, (api) => {
    mountTemplates(api, deps);
    mountLifecycle(api, deps);
    mountRevisions(api, deps);
    mountPreview(api, deps);
    mountGallery(api);
    mountCategories(api, deps);
  });
