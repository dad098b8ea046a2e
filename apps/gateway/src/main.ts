import { loadConfig } from '@plinth/runtime/config';
import { listen, serveAdmin } from '@plinth/runtime/health';
import { runProcess } from '@plinth/runtime/lifecycle';
import { createLog } from '@plinth/runtime/log';
import { startTracing } from '@plinth/runtime/tracing';
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
  log.info({ port, adminPort: admin.port }, 'the gateway listens');
});
