import { once } from 'node:events';
import { loadConfig } from '@plinth/runtime/process/config';
import { listen, serveAdmin } from '@plinth/runtime/process/health';
import { runProcess } from '@plinth/runtime/process/lifecycle';
import { silentLog } from '@plinth/runtime/process/log';
import { compose } from '../src/compose';
import { GatewayConfig } from '../src/config';
import { drain } from '../src/drain';
import { otherEndpoints, thingEndpoints } from './thing-endpoints';

const config = loadConfig(GatewayConfig, process.env);
const crashAt = process.env['CRASH_AT'];

runProcess(silentLog(), async (onClose) => {
  const gateway = await compose(config, silentLog(), {
    endpoints: { things: thingEndpoints, others: otherEndpoints },
    problems: {},
    onCheckpoint: (checkpoint) => {
      if (checkpoint === crashAt) process.kill(process.pid, 'SIGKILL');
    },
  });
  onClose(gateway.close);
  const admin = await serveAdmin(config, gateway.health, gateway.metrics);
  onClose(admin.close);
  const port = await listen(gateway.server, 0, '127.0.0.1');
  const waitForParent = process.env['DRAIN_UNTIL_TOLD'] ? () => once(process, 'message') : undefined;
  onClose(() => drain(gateway, config, waitForParent));
  process.send!({ port, adminPort: admin.port });
});
