import { setTimeout as pause } from 'node:timers/promises';
import { loadConfig } from '@plinth/runtime/process/config';
import { drainSeconds } from '@plinth/runtime/process/drain';
import { serveAdmin } from '@plinth/runtime/process/health';
import { runProcess } from '@plinth/runtime/process/lifecycle';
import { createLog } from '@plinth/runtime/process/log';
import { serveGrpc } from '@plinth/runtime/rpc/grpc';
import { compose } from './compose';
import { PdfRendererConfig } from './config';
import { grpcServices } from './grpc/server';

/** For so long documents may still begin that wait when the process stops; others print those that are left. */
const WAITING_MILLISECONDS = 10_000;
/** Below what a process has to stop, and longer than what has begun may take. */
const PRINTING_MILLISECONDS = 25_000;

const config = loadConfig(PdfRendererConfig, process.env);
const log = createLog(config, 'pdf-renderer');

runProcess(log, async (onClose) => {
  const deps = compose(config, log, onClose);
  const admin = await serveAdmin(config, deps.health, deps.metrics);
  onClose(admin.close);
  const grpc = await serveGrpc(config, grpcServices(deps));
  onClose(() => grpc.close(PRINTING_MILLISECONDS));
  onClose(() => void setTimeout(deps.printer.refuseWaiting, WAITING_MILLISECONDS).unref());
  onClose(async () => {
    deps.health.drain();
    await pause(drainSeconds(config) * 1000);
  });
  log.info({ grpc: grpc.port, admin: admin.port }, 'ready');
});
