import { overrideChanged } from '@plinth/contracts/localization/events';
import { createCallerCulture } from '@plinth/clients/caller-culture';
import { startImportCleanup } from '@plinth/exchange/import-retention';
import { ledgerBytes } from '@plinth/exchange/ledger-quota';
import { RowQuota } from '@plinth/http/row-quota';
import { EventLoopTurns, measurePlaces, turnsAt } from '@plinth/runtime/process/fair-places';
import { createMetrics, Health } from '@plinth/runtime/process/health';
import type { Close } from '@plinth/runtime/process/lifecycle';
import type { Log } from '@plinth/runtime/process/log';
import { subscribeBroadcast } from '@plinth/runtime/messaging/nats';
import { openServiceStore } from '@plinth/runtime/postgres/open-service-store';
import type { LocalizationConfig } from './config';
import { PrismaClient, type Prisma } from './generated/client';
import { migrations } from './generated/migrations';
import { baseTexts } from './resources/base-texts';
import { overrideStore, TEXT_READINGS } from './store/override-store';
import { textListStore } from './store/text-list';
import { textCache } from './store/text-cache';
import { textQuota } from './store/text-quota';

export type Deps = Awaited<ReturnType<typeof compose>>;

/** Wires the real parts; what it opens is closed in reverse order. */
export async function compose(config: LocalizationConfig, log: Log, onClose: (close: Close) => void) {
  const base = baseTexts;
  const metrics = createMetrics('localization');
  const callerCulture = createCallerCulture(config, log, metrics);
  onClose(callerCulture.close);
  const textChecks = new EventLoopTurns();
  const common = { config, log, base, callerCulture, metrics, textChecks };

  if (config.OVERRIDE_STORE === 'none') {
    const texts = textCache({ base, overrides: undefined });
    return {
      ...common,
      health: new Health({}),
      texts,
      overrides: undefined,
      textList: undefined,
      pool: undefined,
      bulkPool: undefined,
      ledgerQuota: undefined,
      outbox: undefined,
      db: undefined,
      quota: undefined,
      onOverridesChanged: () => {},
    };
  }

  const { pool, bulkPool, db, messaging, outbox, checks, informative } =
    await openServiceStore<Prisma.TransactionClient>({
      url: config.DATABASE_URL_LOCALIZATION!,
      createClient: (adapter) => new PrismaClient({ adapter }),
      migrations,
      config,
      log,
      metrics,
      onClose,
    });

  onClose(startImportCleanup({ pool: bulkPool, log, config, metrics }));
  const ledgerQuota = new RowQuota({ db, log, metrics, ...ledgerBytes(config) });

  const onOverridesChanged = (tenantId: string): void => texts.invalidate(tenantId);
  const quota = textQuota({ db, log, metrics, config });
  const readings = turnsAt(TEXT_READINGS);
  const textList = textListStore(db, base);
  measurePlaces(metrics, { readings, 'text-lists': textList.listings });
  const overrides = overrideStore(db, quota, readings, onOverridesChanged);
  const texts = textCache({
    base,
    overrides,
    readings,
    onIncomplete: (tenantId, culture) =>
      log.warn({ tenantId, culture }, 'texts of a tenant left out: they are too many'),
  });
  onClose(subscribeBroadcast(messaging, overrideChanged, ({ tenantId }) => texts.invalidate(tenantId)));

  const health = new Health(checks, { informative, log });
  return {
    ...common,
    health,
    texts,
    overrides,
    textList,
    pool,
    bulkPool,
    outbox,
    db,
    quota,
    ledgerQuota,
    onOverridesChanged,
  };
}
