import { lockUntilCommit } from '@plinth/runtime/postgres/lock';
import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { readByIndexes } from '@plinth/runtime/postgres/read-by-indexes';
import type { TenantUsage } from '../domain/tenant-quota';
import type { Prisma } from '../generated/client';

export interface TenantUsageStore {
  of(tenantId: string): Promise<TenantUsage>;
}

export const tenantUsageStore = (db: TenantDatabase<Prisma.TransactionClient>): TenantUsageStore => ({
  of: (tenantId) => db.inTenant(tenantId, (tx) => readUsage(tx, tenantId)),
});

async function readUsage(tx: Prisma.TransactionClient, tenantId: string): Promise<TenantUsage> {
  await readByIndexes(tx, 'for-values');
  const [row] = await tx.$queryRaw<{ bytes: bigint; oldest: Date | null }[]>`
    SELECT coalesce((SELECT bytes FROM stored_file_usage WHERE tenant_id = ${tenantId}::uuid), 0) AS bytes,
           least(
             (SELECT created_at FROM import_job WHERE tenant_id = ${tenantId}::uuid AND file_removed_at IS NULL
              ORDER BY created_at LIMIT 1),
             (SELECT created_at FROM export_job
              WHERE tenant_id = ${tenantId}::uuid AND file_removed_at IS NULL AND file_size_bytes IS NOT NULL
              ORDER BY created_at LIMIT 1)) AS oldest`;
  return {
    fileBytes: Number(row!.bytes),
    oldestFileAt: row!.oldest,
  };
}

/** What a tenant uses, in the transaction that stores a file more; other uploads of the tenant wait for its end. */
export async function usageBeforeFile(tx: Prisma.TransactionClient, tenantId: string): Promise<TenantUsage> {
  await lockUntilCommit(tx, `${tenantId}/files`);
  return readUsage(tx, tenantId);
}

/**
 * Counts the unfinished jobs of a tenant in the transaction that starts one more. Other starts of the tenant wait for its
 * end, so that the quota is exact.
 */
export async function countUnfinishedJobs(tx: Prisma.TransactionClient, tenantId: string): Promise<number> {
  await lockUntilCommit(tx, `${tenantId}/jobs`);
  const [row] = await tx.$queryRaw<{ jobs: bigint }[]>`
    SELECT (SELECT count(*) FROM import_job WHERE tenant_id = ${tenantId}::uuid AND status = 'Executing')
         + (SELECT count(*) FROM import_undo WHERE tenant_id = ${tenantId}::uuid AND status = 'Undoing')
         + (SELECT count(*) FROM export_job
            WHERE tenant_id = ${tenantId}::uuid AND status NOT IN ('Completed', 'Failed')) AS jobs`;
  return Number(row!.jobs);
}
