import { serveService } from '@plinth/http/serve';
import { loadConfig } from '@plinth/runtime/process/config';
import { runProcess } from '@plinth/runtime/process/lifecycle';
import { createLog } from '@plinth/runtime/process/log';
import { startTracing } from '@plinth/runtime/process/tracing';
import { createApp } from './app';
import { startBackground } from './background';
import { compose } from './compose';
import { DataExchangeConfig } from './config';

const config = loadConfig(DataExchangeConfig, process.env);
const log = createLog(config, 'data-exchange');

runProcess(log, async (onClose) => {
  onClose(await startTracing(config, 'data-exchange', log));
  const deps = await compose(config, log, onClose);
  await startBackground(deps, onClose);
  await serveService(createApp(deps), [], deps, onClose);
});
