import type { Clock } from '@plinth/kernel/clock';
import type { BlobStore } from '@plinth/runtime/blob-store';
import type { Close } from '@plinth/runtime/lifecycle';
import type { Log } from '@plinth/runtime/log';
import type { TenantDatabase } from '@plinth/runtime/postgres';
import type { Prisma } from '../generated/client';
import { blobKey } from './blob-record-store';

type Tx = Prisma.TransactionClient;

const SWEEP_MILLISECONDS = 60_000;
const SWEEP_SIZE = 100;

interface BlobName {
  tenantId: string;
  id: string;
}

export interface UnusedBlobs {
  /** Removes the files whose time has come and that no entry refers to; answers whether more may be due. */
  remove(): Promise<boolean>;
}

/**
 * A file is first marked as removed, under a lock that excludes attaching it, then its content goes, then its record.
 * Whoever dies in between leaves the mark, and the next sweep goes on there.
 */
export const unusedBlobs = (db: TenantDatabase<Tx>, blobs: BlobStore, clock: Clock): UnusedBlobs => ({
  async remove() {
    const due = await db.inPlatform((tx) => judgeDue(tx, clock.now()));
    const removed = due.filter(({ isRemoved }) => isRemoved);
    for (const { tenantId, id } of removed) await blobs.delete(blobKey(tenantId, id));
    if (removed.length > 0) await db.inPlatform((tx) => forget(tx, removed));
    return due.length === SWEEP_SIZE;
  },
});

export interface UnusedBlobsSweeper {
  /** Something was marked; remove it now. */
  wake(): void;
  close: Close;
}

/** Removes unused files when woken and now and then, for as long as the process lives. */
export function sweepUnusedBlobs(unused: UnusedBlobs, log: Log): UnusedBlobsSweeper {
  let sweeping: Promise<void> | undefined;
  let isClosed = false;
  const sweep = async (): Promise<void> => {
    try {
      while (!isClosed && (await unused.remove()));
    } catch (error) {
      log.warn({ err: error }, 'unused files could not be removed; they will be');
    }
  };
  const wake = (): void => {
    sweeping ??= sweep().finally(() => (sweeping = undefined));
  };
  const timer = setInterval(wake, SWEEP_MILLISECONDS);
  timer.unref();
  return {
    wake,
    close: async () => {
      isClosed = true;
      clearInterval(timer);
      await sweeping;
    },
  };
}

interface Judged extends BlobName {
  isRemoved: boolean;
}

/** Marks those of these files as removed that no entry refers to any more. */
export async function markUnused(tx: Tx, tenantId: string, ids: readonly string[], now: Date): Promise<void> {
  if (ids.length === 0) return;
  const locked = await tx.$queryRaw<BlobName[]>`
    SELECT tenant_id AS "tenantId", id FROM blob WHERE tenant_id = ${tenantId}::uuid AND id = ANY(${[...ids]}::uuid[])
    ORDER BY id FOR UPDATE`;
  await judge(tx, locked, now);
}

async function judgeDue(tx: Tx, now: Date): Promise<Judged[]> {
  const locked = await tx.$queryRaw<BlobName[]>`
    SELECT tenant_id AS "tenantId", id FROM blob WHERE check_at <= ${now}
    ORDER BY check_at LIMIT ${SWEEP_SIZE} FOR UPDATE SKIP LOCKED`;
  return locked.length === 0 ? [] : judge(tx, locked, now);
}

/** A statement after the one that locks, because it sees what was attached before the lock. */
const judge = (tx: Tx, locked: readonly BlobName[], now: Date): Promise<Judged[]> => tx.$queryRaw`
  UPDATE blob SET is_removed = NOT is_attached, check_at = CASE WHEN is_attached THEN NULL ELSE ${now}::timestamptz END
  FROM (SELECT named.*, EXISTS (SELECT FROM attachment
          WHERE attachment.tenant_id = named.tenant_id AND blob_id = named.id) AS is_attached
        FROM unnest(${locked.map(({ tenantId }) => tenantId)}::uuid[], ${locked.map(({ id }) => id)}::uuid[])
          AS named (tenant_id, id)) AS found
  WHERE blob.tenant_id = found.tenant_id AND blob.id = found.id
  RETURNING blob.tenant_id AS "tenantId", blob.id, blob.is_removed AS "isRemoved"`;

const forget = (tx: Tx, removed: readonly BlobName[]) => tx.$executeRaw`
  DELETE FROM blob
  USING unnest(${removed.map(({ tenantId }) => tenantId)}::uuid[], ${removed.map(({ id }) => id)}::uuid[])
    AS named (tenant_id, id)
  WHERE blob.tenant_id = named.tenant_id AND blob.id = named.id AND is_removed`;
