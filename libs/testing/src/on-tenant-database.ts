import type { FairPool } from '@plinth/runtime/postgres/fair-pool';
import type { ServiceStoreOptions } from '@plinth/runtime/postgres/open-service-store';
import type { RawStatements, TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { tenantDatabase } from '@plinth/runtime/postgres/tenant-database';

/** Does work on a pool as a service does it: with its Prisma client, which is disconnected at the end. */
export async function onTenantDatabase<Tx extends RawStatements>(
  pool: FairPool,
  createClient: ServiceStoreOptions<Tx>['createClient'],
  work: (db: TenantDatabase<Tx>) => Promise<void>,
): Promise<void> {
  const clients: ReturnType<typeof createClient>[] = [];
  const db = tenantDatabase<Tx>(pool, (adapter) => {
    const client = createClient(adapter);
    clients.push(client);
    return client;
  });
  try {
    await work(db);
  } finally {
    for (const client of clients) await client.$disconnect();
  }
}
