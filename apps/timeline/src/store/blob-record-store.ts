import type { TenantDatabase } from '@plinth/runtime/postgres';
import type { Audience } from '../domain/audience';
import type { Blob, Prisma } from '../generated/client';
import { visibleTo } from './visibility';

type Tx = Prisma.TransactionClient;

export interface BlobRecordStore {
  insert(blob: Blob): Promise<void>;
  /** A file that this person uploaded, or that is attached to an entry they see. */
  find(audience: Audience, userId: string, id: string): Promise<Blob | null>;
}

export const blobRecordStore = (db: TenantDatabase<Tx>): BlobRecordStore => ({
  insert: (blob) => db.inTenant(blob.tenantId, async (tx) => void (await tx.blob.create({ data: blob }))),
  find: (audience, userId, id) =>
    db.inTenant(audience.tenantId, (tx) =>
      tx.blob.findFirst({ where: { id, ...reachable(audience, userId) } }),
    ),
});

const reachable = (audience: Audience, userId: string): Prisma.BlobWhereInput => ({
  tenantId: audience.tenantId,
  OR: [{ uploadedBy: userId }, { attachments: { some: { entry: visibleTo(audience) } } }],
});

/** Which of these files this person may attach: those they can get. */
export async function attachableBlobIds(
  tx: Tx,
  audience: Audience,
  userId: string,
  ids: readonly string[],
): Promise<Set<string>> {
  const blobs = await tx.blob.findMany({
    where: { id: { in: [...ids] }, ...reachable(audience, userId) },
    select: { id: true },
  });
  return new Set(blobs.map(({ id }) => id));
}

/** Forgets those of these files that no entry refers to any more, and answers their ids. */
export async function removeUnattached(tx: Tx, tenantId: string, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const unattached = await tx.blob.findMany({
    where: { tenantId, id: { in: [...ids] }, attachments: { none: {} } },
    select: { id: true },
  });
  const removed = unattached.map(({ id }) => id);
  await tx.blob.deleteMany({ where: { tenantId, id: { in: removed } } });
  return removed;
}
