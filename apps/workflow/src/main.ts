import { serveService } from '@plinth/http/serve';
import { loadConfig } from '@plinth/runtime/process/config';
import { runProcess } from '@plinth/runtime/process/lifecycle';
import { createLog } from '@plinth/runtime/process/log';
import { startTracing } from '@plinth/runtime/process/tracing';
import { createApp } from './app';
import { startBackground } from './background';
import { compose } from './compose';
import { WorkflowConfig } from './config';
import { grpcServices } from './grpc/server';

const config = loadConfig(WorkflowConfig, process.env);
const log = createLog(config, 'workflow');

runProcess(log, async (onClose) => {
  onClose(await startTracing(config, 'workflow', log));
  const deps = await compose(config, log, onClose);
  await startBackground(deps, onClose);
  await serveService(createApp(deps), grpcServices(deps), deps, onClose);
});
