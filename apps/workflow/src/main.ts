import { serveService } from '@plinth/conventions/serve';
import { loadConfig } from '@plinth/runtime/config';
import { runProcess } from '@plinth/runtime/lifecycle';
import { createLog } from '@plinth/runtime/log';
import { startTracing } from '@plinth/runtime/tracing';
import { createApp } from './app';
import { compose } from './compose';
import { WorkflowConfig } from './config';
import { grpcServices } from './grpc/server';
import { startSweeper } from './machines/timed-steps';

const config = loadConfig(WorkflowConfig, process.env);
const log = createLog(config, 'workflow');

runProcess(log, async (onClose) => {
  onClose(await startTracing(config, 'workflow', log));
  const deps = await compose(config, log, onClose);
  onClose(await deps.consume());
  onClose(startSweeper(deps, config.WORKFLOW_SWEEP_SECONDS, log));
  await serveService(createApp(deps), grpcServices(deps), deps, onClose);
});
