import { addressBook, loadConfig, serviceEnvironment } from '@plinth/runtime/process/config';
import { createMetrics, Health, serveAdmin } from '@plinth/runtime/process/health';
import { runProcess } from '@plinth/runtime/process/lifecycle';
import { createLog } from '@plinth/runtime/process/log';
import { z } from 'zod';
import { serveServiceStubs } from './service-stubs';

const ServiceStubsConfig = z.object({
  ...serviceEnvironment,
  HTTP_SERVICES: addressBook().describe('Where the gateway finds every service; stubs listen there.'),
  SERVICE_STUBS: z
    .string()
    .transform((names) => names.split(','))
    .describe('The services that have a stub.'),
});

const config = loadConfig(ServiceStubsConfig, process.env);
const log = createLog(config, 'service-stubs');

const portOf = (address = ''): number => Number(address.slice(address.lastIndexOf(':') + 1));

runProcess(log, async (onClose) => {
  const health = new Health({});
  const metrics = createMetrics('service-stubs');
  const wanted = config.SERVICE_STUBS.map((service) => ({
    service,
    httpPort: portOf(config.HTTP_SERVICES[service]),
    grpcPort: portOf(config.GRPC_SERVICES[service]),
  }));
  const served = await serveServiceStubs(wanted, { config, log, health, metrics }, onClose);
  const admin = await serveAdmin(config, health, metrics);
  onClose(admin.close);
  log.info({ served }, 'ready');
});
