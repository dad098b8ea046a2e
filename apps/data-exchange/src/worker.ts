import { join } from 'node:path';
import { loadConfig } from '@plinth/runtime/process/config';
import { measurePlaces } from '@plinth/runtime/process/fair-places';
import { Health, serveAdmin } from '@plinth/runtime/process/health';
import { runProcess } from '@plinth/runtime/process/lifecycle';
import { createLog } from '@plinth/runtime/process/log';
import { startTracing } from '@plinth/runtime/process/tracing';
import { forwardTemporalLogs } from '@plinth/runtime/temporal/temporal-worker';
import { compose } from './compose';
import { DataExchangeConfig } from './config';
import { createActivities } from './temporal/activities';
import { startWorker } from './temporal/run-worker';

const config = loadConfig(DataExchangeConfig, process.env);
const log = createLog(config, 'data-exchange-worker');

forwardTemporalLogs(log);
runProcess(log, async (onClose) => {
  onClose(await startTracing(config, 'data-exchange-worker', log));
  const deps = await compose(config, log, onClose);
  measurePlaces(deps.metrics, { 'large-batches': deps.largeBatches });
  const workflowBundle = { codePath: join(__dirname, 'workflows.js') };
  onClose(startWorker({ config, log, workflowBundle, activities: createActivities(deps) }));
  const health = new Health({ ...deps.checks, temporal: deps.temporal.check }, { log });
  onClose((await serveAdmin(config, health, deps.metrics)).close);
});
