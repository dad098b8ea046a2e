import { serveService } from '@plinth/conventions/serve';
import { loadConfig } from '@plinth/runtime/config';
import { runProcess } from '@plinth/runtime/lifecycle';
import { createLog } from '@plinth/runtime/log';
import { sweepRegularly } from '@plinth/runtime/sweep-regularly';
import { startTracing } from '@plinth/runtime/tracing';
import { createApp } from './app';
import { compose } from './compose';
import { DataExchangeConfig } from './config';
import { removeFiles } from './jobs/remove-files';
import { measureJobs } from './store/job-metrics';

const config = loadConfig(DataExchangeConfig, process.env);
const log = createLog(config, 'data-exchange');

runProcess(log, async (onClose) => {
  onClose(await startTracing(config, 'data-exchange', log));
  const deps = await compose(config, log, onClose);
  measureJobs(deps.metrics, deps.db);
  const startLostJobs = () => deps.starter.sweep();
  const removeOldFiles = () => removeFiles(deps);
  for (const sweep of [startLostJobs, removeOldFiles])
    onClose(sweepRegularly(sweep, config.EXCHANGE_SWEEP_SECONDS, log));
  await serveService(createApp(deps), [], deps, onClose);
});
