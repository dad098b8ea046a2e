import { loadConfig } from '@plinth/runtime/process/config';
import { listen, serveAdmin } from '@plinth/runtime/process/health';
import { runProcess } from '@plinth/runtime/process/lifecycle';
import { createLog } from '@plinth/runtime/process/log';
import { startTracing } from '@plinth/runtime/process/tracing';
import { compose } from './compose';
import { GatewayConfig } from './config';
import { drain } from './drain';

const config = loadConfig(GatewayConfig, process.env);
const log = createLog(config, 'gateway');

runProcess(log, async (onClose) => {
  onClose(await startTracing(config, 'gateway', log));
  const gateway = await compose(config, log);
  onClose(gateway.close);
  const admin = await serveAdmin(config, gateway.health, gateway.metrics);
  onClose(admin.close);
  const port = await listen(gateway.server, config.HTTP_PORT, config.HTTP_HOST);
  onClose(() => drain(gateway, config));
  log.info({ port, adminPort: admin.port }, 'gateway listening');
});
