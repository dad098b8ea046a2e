import { recordBlob } from '@plinth/runtime/blobs/unrecorded-blobs';
import { lockUntilCommit } from '@plinth/runtime/postgres/lock';
import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { raw, sql } from '@plinth/runtime/postgres/raw-statements';
import type { Audience } from '../domain/audience';
import type { Blob, Prisma } from '../generated/client';
import { visibleSql } from './visibility';

type Tx = Prisma.TransactionClient;

/** Where the content of a file is stored. */
export const blobKey = (tenantId: string, id: string): string => `${tenantId}/timeline/${id}`;

export type BlobRecord = Blob;

export interface BlobRecordStore {
  /**
   * Records a file that was begun as an unrecorded one.
   * @param requireRoom throws where there is none for the file beside those that were stored meanwhile; other uploads of
   *   the tenant wait for the end of this one
   */
  insert(blob: Omit<Blob, 'isRemoved'>, requireRoom: (storedBytes: number) => void): Promise<void>;
  /** Whether there is a file of this id, whoever may read it. */
  exists(tenantId: string, id: string): Promise<boolean>;
  /** The bytes that all files of a tenant take of their quota. */
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
      requireRoom(await readBytes(tx, blob.tenantId));
      await tx.blob.create({ data: blob });
      await recordBlob(tx, { tenantId: blob.tenantId, key: blobKey(blob.tenantId, blob.id) });
    }),
  exists: (tenantId, id) =>
    db.inTenant(tenantId, async (tx) => (await tx.blob.count({ where: { tenantId, id } })) > 0),
  storedBytes: (tenantId) => db.inTenant(tenantId, (tx) => readBytes(tx, tenantId)),
  find: (audience, userId, id) =>
    db.inTenant(audience.tenantId, async (tx) => (await reachable(tx, audience, userId, [id]))[0] ?? null),
  list: (audience, userId, ids) =>
    db.inTenant(audience.tenantId, (tx) => reachable(tx, audience, userId, ids)),
});

/** What a file takes at least, with its record, its attachments and its place in the store of files; the same in `counted_blob_bytes`. */
const FILE_BYTES_MIN = 4_096;

/** The bytes that a file takes of the quota. */
export const countedBytes = (sizeBytes: number): number => Math.max(sizeBytes, FILE_BYTES_MIN);

async function readBytes(tx: Tx, tenantId: string): Promise<number> {
  const [usage] = await tx.$queryRaw<{ bytes: number }[]>`
    SELECT bytes::float8 AS bytes FROM blob_usage WHERE tenant_id = ${tenantId}::uuid`;
  return usage?.bytes ?? 0;
}

/**
 * Those of these files that this person may read. What only entries have that they do not see is gone for its uploader too:
 * that it is kept would tell of them. Each file is looked for by its own entries (OFFSET), not among all of the tenant.
 */
const reachable = (
  tx: Tx,
  audience: Audience,
  userId: string,
  ids: readonly string[],
): Promise<BlobRecord[]> =>
  tx.$queryRaw<BlobRecord[]>(sql`
    SELECT tenant_id AS "tenantId", id, file_name AS "fileName", mime_type AS "mimeType", size_bytes AS "sizeBytes",
      sha256, uploaded_by AS "uploadedBy", created_at AS "createdAt", check_at AS "checkAt", is_removed AS "isRemoved"
    FROM blob
    WHERE tenant_id = ${audience.tenantId}::uuid AND id = ANY(${[...ids]}::uuid[]) AND NOT is_removed
      AND (EXISTS (SELECT FROM attachment
          JOIN entry ON entry.tenant_id = attachment.tenant_id AND entry.id = attachment.entry_id
          WHERE attachment.tenant_id = blob.tenant_id AND attachment.blob_id = blob.id
            AND ${raw(visibleSql(audience) ?? 'true')} OFFSET 0)
        OR uploaded_by = ${userId} AND NOT EXISTS (SELECT FROM attachment
          WHERE attachment.tenant_id = blob.tenant_id AND attachment.blob_id = blob.id OFFSET 0))`);

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
  return new Set((await reachable(tx, audience, userId, ids)).map(({ id }) => id));
}
