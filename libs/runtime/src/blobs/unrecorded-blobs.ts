import { unavailable } from '@plinth/kernel/problem';
import type { RawStatements, TenantDatabase } from '../postgres/postgres';
import type { BlobStore } from './blob-store';

const BATCH_SIZE = 100;
/** Where so many of a batch cannot be deleted, the blob store does not respond. */
const FAILURES_MAX = 5;
/** So often it is said that a file is still being stored; one that a process left is removed an hour later at the soonest. */
const RENEWAL_MILLISECONDS = 600_000;

/** The key of a file in the blob store, and whose it is. */
export interface BlobName {
  tenantId: string;
  key: string;
}

/**
 * Files that are stored before the record that refers to them. Each is known from before it is stored until the transaction
 * of its record, so that none is left by a process that crashes in between or while the blob store is away.
 */
export interface UnrecordedBlobs {
  /** Comes before the file is stored, under a key that was never used. */
  begin(blob: BlobName): Promise<void>;
  /** Stores a file that was begun, however long that takes: `removeAbandoned` counts the time from its end. */
  whileStoring<Result>(blob: BlobName, store: () => Promise<Result>): Promise<Result>;
  /**
   * Removes a file whose record could not be stored. Where it was stored after all, since only the answer was lost, the file
   * stays. Never throws: what could not be removed now is removed by `removeAbandoned`.
   * @param isRecorded whether there is a record that refers to the file
   */
  abandon(blob: BlobName, isRecorded: () => Promise<boolean>): Promise<void>;
  /**
   * Removes the files of all tenants that were begun and stored before this time and have no record, and those that could not be removed
   * when they were abandoned. Tenants take turns, and a file that cannot be removed holds up no other one.
   * @param onRemoved is told how many were removed, some at a time
   * @throws Problem `upstream` while the blob store is not usable
   */
  removeAbandoned(begunBefore: Date, onRemoved?: (count: number) => void): Promise<void>;
}

/**
 * Comes in the transaction that stores the record of a file, behind all that may wait.
 * @throws Problem `overloaded` where the file was given up meanwhile, because storing it took too long
 */
export async function recordBlob(tx: RawStatements, { tenantId, key }: BlobName): Promise<void> {
  const count = await tx.$executeRawUnsafe(
    'DELETE FROM unrecorded_blob WHERE tenant_id = $1::uuid AND key = $2 AND NOT is_abandoned',
    tenantId,
    key,
  );
  if (count === 0) throw unavailable('Storing the file took too long; send it again.');
}

/** @param blobs where the files are stored */
export function unrecordedBlobs(
  db: TenantDatabase<RawStatements>,
  blobs: Pick<BlobStore, 'delete'>,
): UnrecordedBlobs {
  /** Executes a statement with the tenant and the key of a file. */
  const execute = ({ tenantId, key }: BlobName, statement: string): Promise<number> =>
    db.inTenant(tenantId, (tx) => tx.$executeRawUnsafe(statement, tenantId, key), 'once');

  // A process that dies in between leaves the row, and the next clean-up continues there.
  const remove = async (blob: BlobName): Promise<number> => {
    await blobs.delete(blob.key);
    return execute(
      blob,
      'DELETE FROM unrecorded_blob WHERE tenant_id = $1::uuid AND key = $2 AND is_abandoned',
    );
  };

  /** From then on no record can refer to it; returns whether one could. A record that is just being stored is waited for. */
  const mark = (blob: BlobName): Promise<number> =>
    execute(blob, 'UPDATE unrecorded_blob SET is_abandoned = true WHERE tenant_id = $1::uuid AND key = $2');

  const renew = (blob: BlobName): Promise<number> =>
    execute(
      blob,
      'UPDATE unrecorded_blob SET since = clock_timestamp() WHERE tenant_id = $1::uuid AND key = $2 AND NOT is_abandoned',
    );

  /** Their turn comes again behind those that are due. */
  const markDue = (begunBefore: Date): Promise<BlobName[]> =>
    db.inPlatform((tx) =>
      tx.$queryRawUnsafe<BlobName[]>(
        `UPDATE unrecorded_blob SET is_abandoned = true, since = clock_timestamp()
         FROM (
           SELECT tenant_id, key FROM (
             SELECT *, row_number() OVER (PARTITION BY tenant_id ORDER BY since) AS turn FROM unrecorded_blob
             WHERE is_abandoned OR since < $1::timestamptz) AS of_tenants
           ORDER BY turn, since LIMIT ${BATCH_SIZE}) AS due
         WHERE unrecorded_blob.tenant_id = due.tenant_id AND unrecorded_blob.key = due.key
         RETURNING unrecorded_blob.tenant_id::text AS "tenantId", unrecorded_blob.key`,
        begunBefore,
      ),
    );

  return {
    begin: async (blob) => {
      await execute(blob, 'INSERT INTO unrecorded_blob (tenant_id, key) VALUES ($1::uuid, $2)');
    },

    async whileStoring(blob, store) {
      // Where it fails, the next one comes in time.
      const renewal = setInterval(() => void renew(blob).catch(() => undefined), RENEWAL_MILLISECONDS);
      try {
        return await store();
      } finally {
        clearInterval(renewal);
      }
    },

    async abandon(blob, isRecorded) {
      try {
        if ((await mark(blob)) === 0 && (await isRecorded())) return;
        await remove(blob);
      } catch {
        // It stays known.
      }
    },

    async removeAbandoned(begunBefore, onRemoved = () => undefined) {
      let count: number;
      do {
        const due = await markDue(begunBefore);
        count = due.length;
        const failures: unknown[] = [];
        for (const blob of due) {
          if (failures.length >= FAILURES_MAX) break;
          await remove(blob).then(onRemoved, (error: unknown) => failures.push(error));
        }
        if (failures.length > 0) throw failures[0];
      } while (count === BATCH_SIZE);
    },
  };
}
