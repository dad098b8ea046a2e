import { forgetImportsRegularly } from '@plinth/conventions/exchange/forget-imports';
import { systemClock } from '@plinth/kernel/clock';
import { createMetrics, Health } from '@plinth/runtime/health';
import type { Close } from '@plinth/runtime/lifecycle';
import type { Log } from '@plinth/runtime/log';
import { connectMessaging } from '@plinth/runtime/nats';
import { startOutboxRelay } from '@plinth/runtime/outbox';
import { createPool, tenantDatabase } from '@plinth/runtime/postgres';
import { PrismaPg } from '@prisma/adapter-pg';
import type { ContactsConfig } from './config';
import { PrismaClient, type Prisma } from './generated/client';
import { companyStore } from './store/company-store';
import { contactMoves } from './store/contact-moves';
import { contactStore } from './store/contact-store';

export type Deps = Awaited<ReturnType<typeof compose>>;

/** Wires the real parts; what it opens is closed in reverse order. */
export async function compose(config: ContactsConfig, log: Log, onClose: (close: Close) => void) {
  const pool = createPool(config.DATABASE_URL_CONTACTS, log);
  onClose(() => pool.end());
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  onClose(() => prisma.$disconnect());
  const db = tenantDatabase<Prisma.TransactionClient>(prisma);

  const messaging = await connectMessaging(config, log);
  onClose(messaging.close);
  const outbox = startOutboxRelay(db, messaging, log);
  onClose(outbox.close);
  onClose(forgetImportsRegularly(pool, log));

  const storing = { db, outbox, clock: systemClock };
  const health = new Health({ postgres: () => pool.query('SELECT 1'), nats: messaging.check });
  return {
    config,
    log,
    pool,
    health,
    metrics: createMetrics('contacts'),
    outbox,
    contacts: contactStore(storing),
    companies: companyStore(storing),
    moves: contactMoves(storing),
  };
}
