import { PrismaPg } from '@prisma/adapter-pg';
import type { Pool } from 'pg';
import { connectMessaging, type Messaging } from '../messaging/nats';
import { startOutboxRelay, type OutboxRelay } from '../messaging/outbox';
import type { Check } from '../process/health';
import type { Close } from '../process/lifecycle';
import type { Log } from '../process/log';
import {
  createPool,
  tenantDatabase,
  type PoolOptions,
  type RawStatements,
  type TenantDatabase,
  type Transactional,
} from './postgres';
import { startOperationCleanup } from './run-once';

export interface ServiceStoreOptions<Tx> extends PoolOptions {
  /** Of the database, as the service's own role. */
  url: string;
  /** Makes the Prisma client that was generated for the service. */
  createClient: (adapter: PrismaPg) => Transactional<Tx> & { $disconnect(): Promise<void> };
  config: { NATS_URL: string; NATS_PREFIX: string };
  log: Log;
  onClose: (close: Close) => void;
}

/** What every service with a database stands on. */
export interface ServiceStore<Tx> {
  pool: Pool;
  db: TenantDatabase<Tx>;
  messaging: Messaging;
  outbox: OutboxRelay;
  /** What the service cannot work without. */
  checks: { postgres: Check; nats: Check };
}

/** Opens the database and messaging of a service, and starts what belongs to both: the outbox relay and the cleanup. */
export async function openServiceStore<Tx extends RawStatements>({
  url,
  createClient,
  config,
  log,
  onClose,
  ...poolOptions
}: ServiceStoreOptions<Tx>): Promise<ServiceStore<Tx>> {
  const pool = createPool(url, log, poolOptions);
  onClose(() => pool.end());
  const prisma = createClient(new PrismaPg(pool));
  onClose(() => prisma.$disconnect());
  const db = tenantDatabase<Tx>(prisma);
  const messaging = await connectMessaging(config, log);
  onClose(messaging.close);
  const outbox = startOutboxRelay(db, messaging, log);
  onClose(outbox.close);
  onClose(startOperationCleanup(db, log).close);
  const checks = { postgres: () => pool.query('SELECT 1'), nats: messaging.check };
  return { pool, db, messaging, outbox, checks };
}
