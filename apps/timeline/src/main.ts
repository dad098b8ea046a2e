import { serveService } from '@plinth/conventions/serve';
import { loadConfig } from '@plinth/runtime/config';
import { runProcess } from '@plinth/runtime/lifecycle';
import { createLog } from '@plinth/runtime/log';
import { startTracing } from '@plinth/runtime/tracing';
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
