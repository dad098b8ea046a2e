import { lockUntilCommit } from '@plinth/runtime/postgres/lock';
import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import type { Audience } from '../domain/audience';
import type { Blob, Prisma } from '../generated/client';
import { visibleTo } from './visibility';

type Tx = Prisma.TransactionClient;

/** Where the content of a file is stored. */
export const blobKey = (tenantId: string, id: string): string => `${tenantId}/timeline/${id}`;

export type BlobRecord = Blob;

export interface BlobRecordStore {
  /**
   * @param requireRoom throws where there is none for the file beside those that were stored meanwhile; other uploads of
   *   the tenant wait for the end of this one
   */
  insert(blob: Omit<Blob, 'isRemoved'>, requireRoom: (storedBytes: number) => void): Promise<void>;
  /** The bytes of all files of a tenant. */
  storedBytes(tenantId: string): Promise<number>;
  /** A file that this person uploaded and nobody has attached, or that is attached to an entry they see. */
  find(audience: Audience, userId: string, id: string): Promise<Blob | null>;
  /** Those of these files that `find` finds, in any order. */
  list(audience: Audience, userId: string, ids: readonly string[]): Promise<Blob[]>;
}

export const blobRecordStore = (db: TenantDatabase<Tx>): BlobRecordStore => ({
  insert: (blob, requireRoom) =>
    db.inTenant(blob.tenantId, async (tx) => {
      await lockUntilCommit(tx, `${blob.tenantId}/blobs`);
      requireRoom(await sumOfBytes(tx, blob.tenantId));
      await tx.blob.create({ data: blob });
    }),
  storedBytes: (tenantId) => db.inTenant(tenantId, (tx) => sumOfBytes(tx, tenantId)),
  find: (audience, userId, id) =>
    db.inTenant(audience.tenantId, (tx) =>
      tx.blob.findFirst({ where: { id, ...reachable(audience, userId) } }),
    ),
  list: (audience, userId, ids) =>
    db.inTenant(audience.tenantId, (tx) =>
      tx.blob.findMany({ where: { id: { in: [...ids] }, ...reachable(audience, userId) } }),
    ),
});

async function sumOfBytes(tx: Tx, tenantId: string): Promise<number> {
  const { _sum } = await tx.blob.aggregate({
    where: { tenantId, isRemoved: false },
    _sum: { sizeBytes: true },
  });
  return Number(_sum.sizeBytes ?? 0);
}

/** What only entries have that this person does not see is gone for its uploader too: that it is kept would tell of them. */
const reachable = (audience: Audience, userId: string): Prisma.BlobWhereInput => ({
  tenantId: audience.tenantId,
  isRemoved: false,
  OR: [
    { uploadedBy: userId, attachments: { none: {} } },
    { attachments: { some: { entry: visibleTo(audience) } } },
  ],
});

/** Which of these files this person may attach: those they may read. They are locked until the transaction ends. */
export async function attachableBlobIds(
  tx: Tx,
  audience: Audience,
  userId: string,
  ids: readonly string[],
): Promise<Set<string>> {
  await tx.$queryRaw`
    SELECT FROM blob WHERE tenant_id = ${audience.tenantId}::uuid AND id = ANY(${[...ids]}::uuid[])
    ORDER BY id FOR KEY SHARE`;
  const blobs = await tx.blob.findMany({
    where: { id: { in: [...ids] }, ...reachable(audience, userId) },
    select: { id: true },
  });
  return new Set(blobs.map(({ id }) => id));
}
