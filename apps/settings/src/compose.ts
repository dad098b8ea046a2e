import { settingsEvents } from '@plinth/contracts/settings/events';
import { startImportCleanup } from '@plinth/exchange/import-retention';
import { ledgerBytes } from '@plinth/exchange/ledger-quota';
import { BATCH_ITEMS } from '@plinth/http/batch';
import { RowQuota } from '@plinth/http/row-quota';
import { backgroundTask } from '@plinth/runtime/process/background-task';
import { EventLoopTurns, measurePlaces, turnsAt } from '@plinth/runtime/process/fair-places';
import { createMetrics, Health } from '@plinth/runtime/process/health';
import type { Close } from '@plinth/runtime/process/lifecycle';
import type { Log } from '@plinth/runtime/process/log';
import { subscribeBroadcast } from '@plinth/runtime/messaging/nats';
import { openServiceStore } from '@plinth/runtime/postgres/open-service-store';
import { registerDefinitions } from './app/register-definitions';
import { settingReader } from './app/setting-reader';
import type { SettingsConfig } from './config';
import { platformDefinitions } from './domain/platform-definitions';
import { Revocations } from './grpc/revocations';
import { PrismaClient, type Prisma } from './generated/client';
import { migrations } from './generated/migrations';
import { apiKeyStore } from './store/api-key-store';
import { changeQuota } from './store/change-quota';
import { definitionStore } from './store/definition-store';
import { secretBox } from './store/secret-box';
import { settingStore } from './store/setting-store';
import { snapshotCache } from './store/snapshot-cache';

/** Changes of a setting wait for two of them while an import holds it that is to be sealed. */
const SEALING_MILLISECONDS = 5_000;

export type Deps = Awaited<ReturnType<typeof compose>>;

/** Wires the real parts; what it opens is closed in reverse order. */
export async function compose(config: SettingsConfig, log: Log, onClose: (close: Close) => void) {
  const metrics = createMetrics('settings');
  const { pool, bulkPool, db, messaging, outbox, checks, informative } =
    await openServiceStore<Prisma.TransactionClient>({
      url: config.DATABASE_URL_SETTINGS,
      createClient: (adapter) => new PrismaClient({ adapter }),
      migrations,
      config,
      log,
      metrics,
      onClose,
    });

  onClose(startImportCleanup({ pool: bulkPool, log, config, metrics }));
  const ledgerQuota = new RowQuota({ db, log, metrics, ...ledgerBytes(config) });

  const batchItems = turnsAt(BATCH_ITEMS);
  measurePlaces(metrics, { 'batch-items': batchItems });
  const quota = changeQuota({ db, log, metrics, config });
  const box = secretBox(config.SETTINGS_ENCRYPTION_KEYS);
  const definitions = definitionStore({ db, bulkPool, box, log });
  const valueChecks = new EventLoopTurns();
  const settings = settingStore({
    db,
    box,
    config: config.SETTINGS_VALUES,
    quota,
  });
  const snapshots = snapshotCache(settings);
  settings.onChange(snapshots.invalidate);
  for (const changed of [settingsEvents.settingChanged, settingsEvents.userSettingChanged])
    onClose(
      subscribeBroadcast(messaging, changed, ({ tenantId, payload }) =>
        snapshots.invalidate({ tenantId, scope: payload.scope, userId: payload.userId ?? '' }),
      ),
    );
  const revocations = new Revocations();
  onClose(
    subscribeBroadcast(messaging, settingsEvents.apiKeyRevoked, ({ payload }) =>
      revocations.send(payload.id),
    ),
  );
  const register = () => definitions.register('settings', platformDefinitions);
  const registration = await registerDefinitions(register, log);
  onClose(registration.close);
  const sealing = { name: 'sealing of settings', intervalMilliseconds: SEALING_MILLISECONDS, log };
  onClose(backgroundTask(definitions.sealAgain, sealing).close);

  const health = new Health({ ...checks, ...registration.checks }, { informative, log });
  return {
    config,
    log,
    pool,
    bulkPool,
    db,
    box,
    valueChecks,
    health,
    metrics,
    outbox,
    changeQuota: quota,
    ledgerQuota,
    batchItems,
    definitions,
    settings,
    apiKeys: apiKeyStore(db),
    revocations,
    reader: settingReader({ definitions, snapshots, box, log }),
  };
}
