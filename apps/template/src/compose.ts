import { join } from 'node:path';
import { startImportCleanup } from '@plinth/exchange/import-retention';
import { ledgerBytes } from '@plinth/exchange/ledger-quota';
import { createLocalizationClient } from '@plinth/clients/localization-client';
import { shareUsedUp } from '@plinth/contracts/platform/problems';
import { RowQuota } from '@plinth/http/row-quota';
import { systemClock } from '@plinth/kernel/clock';
import { ByteBudget, measureBytes } from '@plinth/runtime/process/byte-budget';
import { FairPlaces, measurePlaces, turnsAt } from '@plinth/runtime/process/fair-places';
import { createMetrics, Health } from '@plinth/runtime/process/health';
import type { Close } from '@plinth/runtime/process/lifecycle';
import type { Log } from '@plinth/runtime/process/log';
import { openServiceStore } from '@plinth/runtime/postgres/open-service-store';
import type { TemplateConfig } from './config';
import { settingDefinitions } from './domain/settings';
import { PrismaClient, type Prisma } from './generated/client';
import { migrations } from './generated/migrations';
import { createPdfRendererClient } from './grpc/pdf-renderer-client';
import { templateSettings } from './grpc/template-settings';
import { sandboxPool } from './render/sandbox-pool';
import { templateRenderer } from './app/renderer';
import { templateLifecycle } from './app/template-lifecycle';
import { categoryStore, COUNTINGS } from './store/category-store';
import { revisionQuota } from './store/revision-quota';
import { removeSpareRevisions } from './store/spare-revisions';
import { templateStore } from './store/template-store';

const BATCHES_WAITING_MAX = 100;

export type Deps = Awaited<ReturnType<typeof compose>>;

/** Wires the real parts; what it opens is closed in reverse order. */
export async function compose(config: TemplateConfig, log: Log, onClose: (close: Close) => void) {
  const metrics = createMetrics('template');
  const { pool, bulkPool, db, outbox, checks, informative } =
    await openServiceStore<Prisma.TransactionClient>({
      url: config.DATABASE_URL_TEMPLATE,
      createClient: (adapter) => new PrismaClient({ adapter }),
      migrations,
      config,
      log,
      metrics,
      onClose,
    });

  onClose(startImportCleanup({ pool: bulkPool, log, config, metrics }));
  const ledgerQuota = new RowQuota({ db, log, metrics, ...ledgerBytes(config) });

  const settings = templateSettings(config, log, metrics);
  onClose(settings.close);
  settings.register('template', settingDefinitions);
  const localization = createLocalizationClient(config, metrics);
  onClose(localization.close);

  const bytes = new ByteBudget(config.RENDER_BYTES_MAX);
  measureBytes(metrics, { renderings: bytes });
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
  const pdfRenderer = createPdfRendererClient(config);
  onClose(pdfRenderer.close);

  const batchPlaces = new FairPlaces({
    places: config.RENDER_BATCHES,
    waitingMax: BATCHES_WAITING_MAX,
    refused: (scope) => shareUsedUp(scope, 'batches waiting to be rendered'),
  });
  const quota = revisionQuota({
    db,
    log,
    metrics,
    config,
    removeSpareRevisions: (tenantId, isEnough) => removeSpareRevisions(bulkPool, tenantId, isEnough),
  });
  const templates = templateStore(db, pool, quota);
  const countings = turnsAt(COUNTINGS);
  const categories = categoryStore(db, countings);
  const renderer = templateRenderer({
    templates,
    sandbox,
    pdfRenderer,
    settings,
    localization,
    clock: systemClock,
    bytes,
  });
  const lifecycle = templateLifecycle({ templates, renderer, settings, clock: systemClock });
  const health = new Health(checks, { informative, log });
  measurePlaces(metrics, {
    evaluation: sandbox.places,
    batches: batchPlaces,
    'category-countings': countings,
  });
  return {
    config,
    log,
    pool,
    bulkPool,
    db,
    outbox,
    health,
    metrics,
    clock: systemClock,
    settings,
    sandbox,
    batchPlaces,
    revisionQuota: quota,
    ledgerQuota,
    templates,
    categories,
    renderer,
    lifecycle,
  };
}
