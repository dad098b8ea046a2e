import type { Clock } from '@plinth/kernel/clock';
import type { BlobStore } from '@plinth/runtime/blobs/blob-store';
import type { UnrecordedBlobs } from '@plinth/runtime/blobs/unrecorded-blobs';
import { backgroundTask, type BackgroundTask } from '@plinth/runtime/process/background-task';
import type { Log } from '@plinth/runtime/process/log';
import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { readByIndexes } from '@plinth/runtime/postgres/read-by-indexes';
import type { TimelineConfig } from '../config';
import type { Prisma } from '../generated/client';
import { blobKey } from './blob-record-store';

type Tx = Prisma.TransactionClient;

const CLEANUP_MILLISECONDS = 60_000;
const BATCH_SIZE = 100;
/** Where so many of a batch cannot be deleted, the blob store does not respond. */
const FAILURES_MAX = 5;
const HOUR_MILLISECONDS = 3_600_000;

/** Before any file. */
const NEVER = new Date(0);

interface BlobName {
  tenantId: string;
  id: string;
}

export interface UnusedBlobs {
  /** Removes the files that are due and that no entry refers to; returns whether more may be due. */
  remove(): Promise<boolean>;
}

/**
 * A file is first marked as removed, under a lock that excludes attaching it, then its content goes, then its record.
 * A process that dies in between leaves the mark, and the next cleanup continues there.
 */
export function unusedBlobs(
  db: TenantDatabase<Tx>,
  blobs: Pick<BlobStore, 'delete'>,
  clock: Clock,
): UnusedBlobs {
  // While more are due, the next ones are looked for behind those that were looked at: as long as any transaction is open,
  // Postgres keeps the index entries of all that were removed since it began.
  let lookedAt = NEVER;
  return {
    async remove() {
      const from = lookedAt;
      lookedAt = NEVER;
      const { due, upTo } = await db.inPlatform((tx) => markDue(tx, { from, to: clock.now() }));
      const removed: BlobName[] = [];
      const failures: unknown[] = [];
      for (const { tenantId, id } of due.filter(({ isRemoved }) => isRemoved)) {
        if (failures.length >= FAILURES_MAX) break;
        await blobs.delete(blobKey(tenantId, id)).then(
          () => removed.push({ tenantId, id }),
          (error: unknown) => failures.push(error),
        );
      }
      if (removed.length > 0) await db.inPlatform((tx) => deleteRecords(tx, removed));
      // Their turn comes again behind those that are due: one that cannot be deleted keeps no other one.
      if (failures.length > 0) throw failures[0];
      const hasMore = due.length === BATCH_SIZE;
      if (hasMore) lookedAt = upTo;
      return hasMore;
    },
  };
}

/** Removes unused files at an interval and when woken, for as long as the process lives. */
export const startUnusedBlobCleanup = (unused: UnusedBlobs, log: Log): BackgroundTask =>
  backgroundTask(() => unused.remove(), {
    name: 'removal of unused files',
    intervalMilliseconds: CLEANUP_MILLISECONDS,
    log,
  });

interface InterruptedBlobDeps {
  blobs: BlobStore;
  unrecordedBlobs: UnrecordedBlobs;
  clock: Clock;
  config: Pick<TimelineConfig, 'BLOB_INTERRUPTED_HOURS'>;
}

/**
 * Removes what processes left of files when they crashed while storing them or before they stored their records; a file that
 * is being stored is younger.
 */
export async function removeInterruptedBlobs({
  blobs,
  unrecordedBlobs,
  clock,
  config,
}: InterruptedBlobDeps): Promise<void> {
  const age = config.BLOB_INTERRUPTED_HOURS * HOUR_MILLISECONDS;
  const before = new Date(clock.now().getTime() - age);
  try {
    await blobs.deleteInterrupted(before);
  } finally {
    await unrecordedBlobs.removeAbandoned(before);
  }
}

/** Removes interrupted files at an interval, for as long as the process lives. */
export const startInterruptedBlobCleanup = (deps: InterruptedBlobDeps, log: Log): BackgroundTask =>
  backgroundTask(() => removeInterruptedBlobs(deps), {
    name: 'removal of interrupted files',
    intervalMilliseconds: HOUR_MILLISECONDS,
    log,
  });

interface CheckedBlob extends BlobName {
  isRemoved: boolean;
}

/** Marks those of these files as removed that no entry refers to any more. */
export async function markUnused(tx: Tx, tenantId: string, ids: readonly string[], now: Date): Promise<void> {
  if (ids.length === 0) return;
  const locked = await tx.$queryRaw<BlobName[]>`
    SELECT tenant_id AS "tenantId", id FROM blob WHERE tenant_id = ${tenantId}::uuid AND id = ANY(${[...ids]}::uuid[])
    ORDER BY id FOR UPDATE`;
  await markUnattached(tx, locked, now);
}

/** Looks at the first files that are due within a time; `upTo` is when the last of them was. */
async function markDue(
  tx: Tx,
  { from, to }: { from: Date; to: Date },
): Promise<{ due: CheckedBlob[]; upTo: Date }> {
  await readByIndexes(tx);
  const locked = await tx.$queryRaw<(BlobName & { checkAt: Date })[]>`
    SELECT tenant_id AS "tenantId", id, check_at AS "checkAt" FROM blob WHERE check_at >= ${from} AND check_at <= ${to}
    ORDER BY check_at LIMIT ${BATCH_SIZE} FOR UPDATE SKIP LOCKED`;
  const due = locked.length === 0 ? [] : await markUnattached(tx, locked, to);
  return { due, upTo: locked.at(-1)?.checkAt ?? from };
}

/** A statement after the one that locks, because it sees what was attached before the lock. */
const markUnattached = (
  tx: Tx,
  locked: readonly BlobName[],
  now: Date,
): Promise<CheckedBlob[]> => tx.$queryRaw`
  UPDATE blob SET is_removed = NOT is_attached, check_at = CASE WHEN is_attached THEN NULL ELSE ${now}::timestamptz END
  FROM (SELECT named.*, EXISTS (SELECT FROM attachment
          WHERE attachment.tenant_id = named.tenant_id AND blob_id = named.id) AS is_attached
        FROM unnest(${locked.map(({ tenantId }) => tenantId)}::uuid[], ${locked.map(({ id }) => id)}::uuid[])
          AS named (tenant_id, id)) AS found
  WHERE blob.tenant_id = found.tenant_id AND blob.id = found.id
  RETURNING blob.tenant_id AS "tenantId", blob.id, blob.is_removed AS "isRemoved"`;

const deleteRecords = (tx: Tx, removed: readonly BlobName[]) => tx.$executeRaw`
  DELETE FROM blob
  USING unnest(${removed.map(({ tenantId }) => tenantId)}::uuid[], ${removed.map(({ id }) => id)}::uuid[])
    AS named (tenant_id, id)
  WHERE blob.tenant_id = named.tenant_id AND blob.id = named.id AND is_removed`;
