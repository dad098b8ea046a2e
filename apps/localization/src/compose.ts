import { overrideChanged } from '@plinth/contracts/localization/events';
import { createCallerCulture } from '@plinth/conventions/caller-culture';
import { forgetImportsRegularly } from '@plinth/conventions/exchange/forget-imports';
import { createMetrics, Health } from '@plinth/runtime/health';
import type { Close } from '@plinth/runtime/lifecycle';
import type { Log } from '@plinth/runtime/log';
import { connectMessaging, hearOnEveryReplica } from '@plinth/runtime/nats';
import { startOutboxRelay } from '@plinth/runtime/outbox';
import { createPool, tenantDatabase } from '@plinth/runtime/postgres';
import { PrismaPg } from '@prisma/adapter-pg';
import type { LocalizationConfig } from './config';
import { PrismaClient, type Prisma } from './generated/client';
import { baseTexts } from './resources/base-texts';
import { overrideStore } from './store/override-store';
import { textCache } from './store/text-cache';

export type Deps = Awaited<ReturnType<typeof compose>>;

/** Wires the real parts; what it opens is closed in reverse order. */
export async function compose(config: LocalizationConfig, log: Log, onClose: (close: Close) => void) {
  const base = baseTexts;
  const callerCulture = createCallerCulture(config, log);
  onClose(callerCulture.close);
  const common = { config, log, base, callerCulture, metrics: createMetrics('localization') };

  if (config.OVERRIDE_STORE === 'none') {
    const texts = textCache({ base, overrides: undefined });
    return {
      ...common,
      health: new Health({}),
      texts,
      overrides: undefined,
      pool: undefined,
      db: undefined,
      announce: () => {},
    };
  }

  const pool = createPool(config.DATABASE_URL_LOCALIZATION!, log);
  onClose(() => pool.end());
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  onClose(() => prisma.$disconnect());
  const db = tenantDatabase<Prisma.TransactionClient>(prisma);

  const messaging = await connectMessaging(config, log);
  onClose(messaging.close);
  const outbox = startOutboxRelay(db, messaging, log);
  onClose(outbox.close);
  onClose(forgetImportsRegularly(pool, log));

  const announce = (tenantId: string): void => {
    texts.forget(tenantId);
    outbox.wake();
  };
  const overrides = overrideStore(db, announce);
  const texts = textCache({ base, overrides });
  onClose(hearOnEveryReplica(messaging, overrideChanged, ({ tenantId }) => texts.forget(tenantId)));

  const health = new Health({ postgres: () => pool.query('SELECT 1'), nats: messaging.check });
  return { ...common, health, texts, overrides, pool, db, announce };
}
