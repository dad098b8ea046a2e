import { createService } from '@plinth/http/api';
import { dataExchangeEndpoints } from '@plinth/contracts/data-exchange/endpoints';
import type { Express } from 'express';
import type { Deps } from './compose';
import { mountExchangeJobs } from './routes/exchange-jobs';
import { mountExportDefinitions } from './routes/export-definitions';
import { mountExportJobs } from './routes/export-jobs';
import { mountExportPresets } from './routes/export-presets';
import { mountImportDefinitions } from './routes/import-definitions';
import { mountImportFormat } from './routes/import-format';
import { mountImportResults } from './routes/import-results';
import { mountImportSteps } from './routes/import-steps';
import { mountImportUndo } from './routes/import-undo';
import { mountImports } from './routes/imports';

export const createApp = (deps: Deps): Express =>
  createService('data-exchange', dataExchangeEndpoints, deps, (api) => {
    mountExportDefinitions(api, deps);
    mountExportJobs(api, deps);
    mountExportPresets(api, deps);
    mountImportDefinitions(api, deps);
    mountImports(api, deps);
    mountImportFormat(api, deps);
    mountImportSteps(api, deps);
    mountImportResults(api, deps);
    mountImportUndo(api, deps);
    mountExchangeJobs(api, deps);
  });
