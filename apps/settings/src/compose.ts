import { settingsEvents } from '@plinth/contracts/settings/events';
import { forgetImportsRegularly } from '@plinth/conventions/exchange/forget-imports';
import { createMetrics, Health } from '@plinth/runtime/health';
import type { Close } from '@plinth/runtime/lifecycle';
import type { Log } from '@plinth/runtime/log';
import { systemClock } from '@plinth/kernel/clock';
import { connectMessaging, hearOnEveryReplica } from '@plinth/runtime/nats';
import { startOutboxRelay } from '@plinth/runtime/outbox';
import { createPool, tenantDatabase } from '@plinth/runtime/postgres';
import { PrismaPg } from '@prisma/adapter-pg';
import type { SettingsConfig } from './config';
import { platformDefinitions } from './domain/platform-definitions';
import { PrismaClient, type Prisma } from './generated/client';
import { definitionStore } from './store/definition-store';
import { secretBox } from './store/secret-box';
import { settingStore } from './store/setting-store';
import { snapshotCache } from './store/snapshot-cache';

export type Deps = Awaited<ReturnType<typeof compose>>;

/** Wires the real parts; what it opens is closed in reverse order. */
export async function compose(config: SettingsConfig, log: Log, onClose: (close: Close) => void) {
  const pool = createPool(config.DATABASE_URL_SETTINGS, log);
  onClose(() => pool.end());
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  onClose(() => prisma.$disconnect());
  const db = tenantDatabase<Prisma.TransactionClient>(prisma);

  const messaging = await connectMessaging(config, log);
  onClose(messaging.close);
  const outbox = startOutboxRelay(db, messaging, log);
  onClose(outbox.close);
  onClose(forgetImportsRegularly(pool, log));

  const definitions = definitionStore(db);
  const box = secretBox(config.SETTINGS_ENCRYPTION_KEYS);
  const settings = settingStore({
    db,
    definitions,
    box,
    outbox,
    clock: systemClock,
    config: config.SETTINGS_VALUES,
  });
  const snapshots = snapshotCache(settings.readSnapshot);
  settings.onChange(snapshots.forget);
  onClose(
    hearOnEveryReplica(messaging, settingsEvents.settingChanged, ({ tenantId, payload }) =>
      snapshots.forget({ tenantId, scope: payload.scope, userId: payload.userId }),
    ),
  );
  await definitions.register('settings', platformDefinitions);

  const health = new Health({ postgres: () => pool.query('SELECT 1'), nats: messaging.check });
  return {
    config,
    log,
    pool,
    db,
    box,
    health,
    metrics: createMetrics('settings'),
    outbox,
    definitions,
    settings,
    snapshots,
  };
}
