import { createCallerCulture } from '@plinth/conventions/caller-culture';
import { createMetrics, Health } from '@plinth/runtime/health';
import { systemClock } from '@plinth/kernel/clock';
import { openBlobStore } from '@plinth/runtime/open-blob-store';
import type { Close } from '@plinth/runtime/lifecycle';
import type { Log } from '@plinth/runtime/log';
import { connectMessaging } from '@plinth/runtime/nats';
import { startOutboxRelay } from '@plinth/runtime/outbox';
import { createPool, tenantDatabase } from '@plinth/runtime/postgres';
import { createTemporal } from '@plinth/runtime/temporal';
import { PrismaPg } from '@prisma/adapter-pg';
import type { DataExchangeConfig } from './config';
import { PrismaClient, type Prisma } from './generated/client';
import { connectOwners } from './grpc/owners';
import { translatedRowTexts } from './grpc/row-texts';
import { exportStore } from './store/export-store';
import { importStore } from './store/import-store';
import { keyStore } from './store/key-store';
import { presetStore } from './store/preset-store';
import { rangeStore } from './store/range-store';
import { undoStore } from './store/undo-store';
import { jobStarter } from './temporal/client';
import { countWorkers } from './temporal/worker-count';

export type Deps = Awaited<ReturnType<typeof compose>>;

/** Wires the real parts; what it opens is closed in reverse order. */
export async function compose(config: DataExchangeConfig, log: Log, onClose: (close: Close) => void) {
  const pool = createPool(config.DATABASE_URL_DATA_EXCHANGE, log);
  onClose(() => pool.end());
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  onClose(() => prisma.$disconnect());
  const db = tenantDatabase<Prisma.TransactionClient>(prisma);

  const messaging = await connectMessaging(config, log);
  onClose(messaging.close);
  onClose(startOutboxRelay(db, messaging, log).close);

  const blobs = openBlobStore(config.BLOB_URL);
  const owners = connectOwners(config.GRPC_SERVICES, config.CALLER_KEYS, log);
  onClose(owners.close);
  const cultures = createCallerCulture(config, log);
  onClose(cultures.close);
  const rowTexts = translatedRowTexts(config, cultures, log);
  onClose(rowTexts.close);
  const temporal = createTemporal(config);
  onClose(temporal.close);

  const imports = importStore(db);
  const ranges = rangeStore(db);
  const keys = keyStore(pool);
  const undos = undoStore(db);
  const exports = exportStore(db);
  const starter = jobStarter({ config, temporal, imports, undos, exports, log });

  // Without Temporal nothing new is begun, but everything else works: it does not take the process out of service.
  const health = new Health({ postgres: () => pool.query('SELECT 1'), files: blobs.check });
  return {
    config,
    log,
    clock: systemClock,
    pool,
    db,
    blobs,
    owners,
    cultures,
    rowTexts,
    temporal,
    imports,
    ranges,
    keys,
    undos,
    exports,
    presets: presetStore(db),
    countWorkers: () => countWorkers(temporal, config),
    starter,
    health,
    metrics: createMetrics('data-exchange'),
  };
}
