import { join } from 'node:path';
import { loadConfig } from '@plinth/runtime/config';
import { Health, serveAdmin } from '@plinth/runtime/health';
import { runProcess } from '@plinth/runtime/lifecycle';
import { createLog } from '@plinth/runtime/log';
import { startTracing } from '@plinth/runtime/tracing';
import { sendTemporalLogsTo } from '@plinth/runtime/temporal-worker';
import { compose } from './compose';
import { WorkflowConfig } from './config';
import { createActivities } from './temporal/activities';
import { startWorker } from './temporal/run-worker';

const config = loadConfig(WorkflowConfig, process.env);
const log = createLog(config, 'workflow-worker');

sendTemporalLogsTo(log);
runProcess(log, async (onClose) => {
  onClose(await startTracing(config, 'workflow-worker', log));
  const deps = await compose(config, log, onClose);
  const workflowBundle = { codePath: join(__dirname, 'workflows.js') };
  onClose(startWorker({ config, log, workflowBundle, activities: createActivities(deps) }));
  const health = new Health({ postgres: () => deps.pool.query('SELECT 1'), temporal: deps.temporal.check });
  onClose((await serveAdmin(config, health, deps.metrics)).close);
});
