import { startImportCleanup } from '@plinth/exchange/import-retention';
import { ledgerBytes } from '@plinth/exchange/ledger-quota';
import { RowQuota } from '@plinth/http/row-quota';
import { systemClock } from '@plinth/kernel/clock';
import { createMetrics, Health } from '@plinth/runtime/process/health';
import type { Close } from '@plinth/runtime/process/lifecycle';
import type { Log } from '@plinth/runtime/process/log';
import { openServiceStore } from '@plinth/runtime/postgres/open-service-store';
import type { ContactsConfig } from './config';
import { PrismaClient, type Prisma } from './generated/client';
import { migrations } from './generated/migrations';
import { companyStore } from './store/company-store';
import { stageTransitions } from './store/stage-transitions';
import { contactStore } from './store/contact-store';

export type Deps = Awaited<ReturnType<typeof compose>>;

/** Wires the real parts; what it opens is closed in reverse order. */
export async function compose(config: ContactsConfig, log: Log, onClose: (close: Close) => void) {
  const metrics = createMetrics('contacts');
  const { pool, bulkPool, db, outbox, checks, informative } =
    await openServiceStore<Prisma.TransactionClient>({
      url: config.DATABASE_URL_CONTACTS,
      createClient: (adapter) => new PrismaClient({ adapter }),
      migrations,
      config,
      log,
      metrics,
      onClose,
    });

  onClose(startImportCleanup({ pool: bulkPool, log, config, metrics }));
  const ledgerQuota = new RowQuota({ db, log, metrics, ...ledgerBytes(config) });

  const ofRows = { db, log, metrics, limit: config.CONTACTS_TENANT_RECORDS_MAX };
  const quotas = {
    contact: new RowQuota({ ...ofRows, table: 'contact', quota: 'contacts', what: 'contacts' }),
    company: new RowQuota({ ...ofRows, table: 'company', quota: 'companies', what: 'companies' }),
  };
  const storing = { db, clock: systemClock, quotas };
  const health = new Health(checks, { informative, log });
  return {
    config,
    log,
    pool,
    bulkPool,
    health,
    metrics,
    outbox,
    quotas,
    ledgerQuota,
    contacts: contactStore(storing),
    companies: companyStore(storing),
    stageTransitions: stageTransitions(storing),
  };
}
