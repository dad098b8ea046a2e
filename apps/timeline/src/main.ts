import { serveService } from '@plinth/http/serve';
import { loadConfig } from '@plinth/runtime/process/config';
import { runProcess } from '@plinth/runtime/process/lifecycle';
import { createLog } from '@plinth/runtime/process/log';
import { startTracing } from '@plinth/runtime/process/tracing';
import { createApp } from './app';
import { compose } from './compose';
import { TimelineConfig } from './config';
import { grpcServices } from './grpc/server';

const config = loadConfig(TimelineConfig, process.env);
const log = createLog(config, 'timeline');

runProcess(log, async (onClose) => {
  onClose(await startTracing(config, 'timeline', log));
  const deps = await compose(config, log, onClose);
  await serveService(createApp(deps), grpcServices(deps), deps, onClose);
});
