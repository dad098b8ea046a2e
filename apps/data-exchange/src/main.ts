import { serveService } from '@plinth/conventions/serve';
import { loadConfig } from '@plinth/runtime/config';
import { runProcess } from '@plinth/runtime/lifecycle';
import { createLog } from '@plinth/runtime/log';
import { createApp } from './app';
import { compose } from './compose';
import { DataExchangeConfig } from './config';
import { sweepRegularly } from './temporal/client';

const config = loadConfig(DataExchangeConfig, process.env);
const log = createLog(config, 'data-exchange');

runProcess(log, async (onClose) => {
  const deps = await compose(config, log, onClose);
  onClose(sweepRegularly(deps.starter, config.EXCHANGE_SWEEP_SECONDS, log));
  await serveService(createApp(deps), [], deps, onClose);
});
