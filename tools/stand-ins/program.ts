import { addressBook, loadConfig, serviceEnvironment } from '@plinth/runtime/config';
import { createMetrics, Health, serveAdmin } from '@plinth/runtime/health';
import { runProcess } from '@plinth/runtime/lifecycle';
import { createLog } from '@plinth/runtime/log';
import { z } from 'zod';
import { serveStandIns } from './stand-ins';

const StandInsConfig = z.object({
  ...serviceEnvironment,
  HTTP_SERVICES: addressBook().describe('Where every area is looked for; stand-ins listen there.'),
  STAND_INS: z
    .string()
    .transform((areas) => areas.split(','))
    .describe('The areas that a stand-in answers for.'),
});

const config = loadConfig(StandInsConfig, process.env);
const log = createLog(config, 'stand-ins');

const portOf = (address = ''): number => Number(address.slice(address.lastIndexOf(':') + 1));

runProcess(log, async (onClose) => {
  const health = new Health({});
  const metrics = createMetrics('stand-ins');
  const wanted = config.STAND_INS.map((area) => ({
    area,
    httpPort: portOf(config.HTTP_SERVICES[area]),
    grpcPort: portOf(config.GRPC_SERVICES[area]),
  }));
  const served = await serveStandIns(wanted, { config, log, health, metrics }, onClose);
  const admin = await serveAdmin(config, health, metrics);
  onClose(admin.close);
  log.info({ served }, 'ready');
});
