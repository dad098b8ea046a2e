import { join } from 'node:path';
import { forgetImportsRegularly } from '@plinth/conventions/exchange/forget-imports';
import { createLocalizationClient } from '@plinth/conventions/localization-client';
import { systemClock } from '@plinth/kernel/clock';
import { createMetrics, Health } from '@plinth/runtime/health';
import type { Close } from '@plinth/runtime/lifecycle';
import type { Log } from '@plinth/runtime/log';
import { connectMessaging } from '@plinth/runtime/nats';
import { startOutboxRelay } from '@plinth/runtime/outbox';
import { createPool, tenantDatabase } from '@plinth/runtime/postgres';
import { PrismaPg } from '@prisma/adapter-pg';
import type { TemplateConfig } from './config';
import { templateSettings } from './domain/settings';
import { PrismaClient, type Prisma } from './generated/client';
import { templateSettingsClient } from './grpc/settings-client';
import { findChromium } from './render/chromium';
import { pdfPrinter } from './render/pdf';
import { measureQueues } from './render/queue-metrics';
import { sandboxPool } from './render/pool';
import { templateRenderer } from './render/renderer';
import { categoryStore } from './store/category-store';
import { sweepOperations } from './store/operation-sweep';
import { templateStore } from './store/template-store';

export type Deps = Awaited<ReturnType<typeof compose>>;

/** Wires the real parts; what it opens is closed in reverse order. */
export async function compose(config: TemplateConfig, log: Log, onClose: (close: Close) => void) {
  const pool = createPool(config.DATABASE_URL_TEMPLATE, log, { pipeline: true });
  onClose(() => pool.end());
  // Exports are copied, which a pipeline does not know.
  const exchangePool = createPool(config.DATABASE_URL_TEMPLATE, log);
  onClose(() => exchangePool.end());
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  onClose(() => prisma.$disconnect());
  const db = tenantDatabase<Prisma.TransactionClient>(prisma);

  const messaging = await connectMessaging(config, log);
  onClose(messaging.close);
  const outbox = startOutboxRelay(db, messaging, log);
  onClose(outbox.close);
  onClose(forgetImportsRegularly(exchangePool, log));
  onClose(sweepOperations(db, log));

  const settings = templateSettingsClient(config, log);
  onClose(settings.close);
  settings.register('template', templateSettings);
  const localization = createLocalizationClient(config);
  onClose(localization.close);

  const sandbox = sandboxPool(
    {
      program: config.RENDER_SANDBOX_PROGRAM ?? join(__dirname, 'sandbox.js'),
      processes: config.RENDER_PROCESSES,
      queueMax: config.RENDER_QUEUE_MAX,
      millisecondsMax: config.RENDER_MILLISECONDS_MAX,
      memoryMegabytesMax: config.RENDER_MEMORY_MEGABYTES_MAX,
    },
    log,
  );
  onClose(sandbox.close);
  const chromium = findChromium(
    { executable: config.PUPPETEER_EXECUTABLE_PATH, isProduction: config.NODE_ENV === 'production' },
    log,
  );
  const printer = pdfPrinter(
    chromium,
    {
      pages: config.PDF_PAGES,
      queueMax: config.PDF_QUEUE_MAX,
      documentsPerBrowser: config.PDF_DOCUMENTS_PER_BROWSER,
      millisecondsMax: config.PDF_MILLISECONDS_MAX,
    },
    log,
  );
  onClose(printer.close);
  // Whatever is wrong is told to the first who prints.
  if (config.NODE_ENV !== 'test')
    void printer.warm().catch((error: unknown) => log.warn({ err: error }, 'PDF is not available'));

  const templates = templateStore(db, pool, outbox);
  const categories = categoryStore(db);
  const renderer = templateRenderer({
    templates,
    sandbox,
    printer,
    settings,
    localization,
    clock: systemClock,
  });
  const health = new Health({ postgres: () => pool.query('SELECT 1'), nats: messaging.check });
  const metrics = createMetrics('template');
  measureQueues(metrics, { evaluation: sandbox, pdf: printer });
  return {
    config,
    log,
    pool,
    exchangePool,
    db,
    outbox,
    health,
    metrics,
    clock: systemClock,
    settings,
    sandbox,
    templates,
    categories,
    renderer,
  };
}
