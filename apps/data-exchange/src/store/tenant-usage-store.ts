import { lockUntilCommit } from '@plinth/runtime/postgres/lock';
import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import type { TenantUsage } from '../domain/tenant-quota';
import type { Prisma } from '../generated/client';

export interface TenantUsageStore {
  of(tenantId: string): Promise<TenantUsage>;
}

export const tenantUsageStore = (db: TenantDatabase<Prisma.TransactionClient>): TenantUsageStore => ({
  of: (tenantId) => db.inTenant(tenantId, (tx) => readUsage(tx, tenantId)),
});

async function readUsage(tx: Prisma.TransactionClient, tenantId: string): Promise<TenantUsage> {
  const [row] = await tx.$queryRaw<{ bytes: bigint; oldest: Date | null }[]>`
    SELECT coalesce(sum(bytes), 0)::bigint AS bytes,
           min(created_at) AS oldest
    FROM (
      SELECT file_size_bytes AS bytes, created_at, file_removed_at IS NULL AS is_stored
      FROM import_job WHERE tenant_id = ${tenantId}::uuid
      UNION ALL
      SELECT file_size_bytes, created_at, file_size_bytes IS NOT NULL AND file_removed_at IS NULL
      FROM export_job WHERE tenant_id = ${tenantId}::uuid
    ) AS job WHERE is_stored`;
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
         + (SELECT count(*) FROM export_job
            WHERE tenant_id = ${tenantId}::uuid AND status NOT IN ('Completed', 'Failed')) AS jobs`;
  return Number(row!.jobs);
}
