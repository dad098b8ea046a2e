import { workflowEndpoints } from '@plinth/contracts/workflow/endpoints';
import { createService } from '@plinth/http/api';
import type { Express } from 'express';
import type { Deps } from './compose';
import { mountApprovals } from './routes/approvals';
import { mountDefinitions } from './routes/definitions';
import { mountDelegations } from './routes/delegations';
import { mountHistory } from './routes/history';
import { mountTransitions } from './routes/transitions';

export const createApp = (deps: Deps): Express =>
  createService('workflow', workflowEndpoints, deps, (api) => {
    mountTransitions(api, deps);
    mountHistory(api, deps);
    mountApprovals(api, deps);
    mountDelegations(api, deps);
    mountDefinitions(api, deps);
  });
