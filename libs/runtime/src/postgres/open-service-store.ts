import type { PrismaPg } from '@prisma/adapter-pg';
import type { Registry } from 'prom-client';
import type { FairPool } from './fair-pool';
import { connectMessaging, type Messaging, type MessagingConfig } from '../messaging/nats';
import { startOutboxRelay, wakingRelay, type RelayWaking } from '../messaging/outbox';
import type { Check } from '../process/health';
import type { Close } from '../process/lifecycle';
import type { Log } from '../process/log';
import { answeredSoon, createPool, requireWrites, type RawStatements, type TenantDatabase } from './postgres';
import { startOperationCleanup } from './run-once';
import { tenantDatabase, type Transactional } from './tenant-database';
import { untilMigrated, type MigrationsOptions } from './until-migrated';

export interface ServiceStoreOptions<Tx> {
  /** Of the database, as the service's own role. */
  url: string;
  /** Makes the Prisma client that was generated for the service. */
  createClient: (adapter: PrismaPg) => Transactional<Tx> & { $disconnect(): Promise<void> };
  /** The names of the service's migrations, as generated beside its client. */
  migrations: readonly string[];
  config: MessagingConfig & MigrationsOptions['config'];
  log: Log;
  /** Of the process; until the database is migrated they tell what it waits for. */
  metrics: Registry;
  onClose: (close: Close) => void;
}

/** What every service with a database stands on. */
export interface ServiceStore<Tx> {
  /** For requests: statements do not wait for the answers of those before them. */
  pool: FairPool;
  /** For imports and exports, which use `COPY`: it does not work in pipeline mode. Empty until it is used. */
  bulkPool: FairPool;
  /** Its transactions wake the relay after their commit where they published. */
  db: TenantDatabase<Tx>;
  messaging: Messaging;
  /** For bulk work, whose transactions wake it too. */
  outbox: RelayWaking;
  /** What the service cannot work without. */
  checks: { postgres: Check };
  /**
   * Without NATS requests are served and their events wait in the outbox, and of a database that takes no writes they read;
   * were the service not ready, nothing were served.
   */
  informative: { nats: Check; 'postgres-writes': Check };
}

/**
 * Opens the database and messaging of a service, and starts what belongs to both: the outbox relay and the cleanup. Nothing
 * of it begins before the database has all migrations of this version.
 */
export async function openServiceStore<Tx extends RawStatements>({
  url,
  createClient,
  migrations,
  config,
  log,
  metrics,
  onClose,
}: ServiceStoreOptions<Tx>): Promise<ServiceStore<Tx>> {
  const pool = createPool(url, log, { pipeline: true });
  onClose(() => pool.end());
  await untilMigrated({ pool, migrations, config, log, metrics, onClose });
  // Of its own work the platform deletes former rows there, in one process after the other.
  const bulkPool = createPool(url, log, { platformConnections: 1, isForBulkWork: true });
  onClose(() => bulkPool.end());
  const database = tenantDatabase<Tx>(pool, (adapter) => {
    const prisma = createClient(adapter);
    onClose(() => prisma.$disconnect());
    return prisma;
  });
  const messaging = await connectMessaging(config, log);
  onClose(messaging.close);
  const outbox = startOutboxRelay(database, messaging, log);
  onClose(outbox.close);
  const db = wakingRelay(database, outbox);
  onClose(startOperationCleanup(db, log).close);
  const checks = { postgres: () => pool.query(answeredSoon(pool, 'SELECT 1')) };
  const informative = { nats: messaging.check, 'postgres-writes': () => requireWrites(pool) };
  return { pool, bulkPool, db, messaging, outbox, checks, informative };
}
