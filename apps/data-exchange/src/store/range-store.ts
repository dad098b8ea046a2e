import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { LostProgress } from '../domain/lost-progress';
import type { FileRange } from '../formats/record-index';
import type { Prisma } from '../generated/client';
import { bytesOfParts, insertFailedParts } from './failed-row-store';
import type { CountedBatch } from './import-store';

/** A range of the file of an import, and how far it is. */
export interface ImportRange extends FileRange {
  number: number;
  /** Batches up to this one are counted. */
  lastBatch: number;
}

/** The ranges of the files of imports. */
export interface RangeStore {
  /** Stores the ranges of a job, unless it has some already, which stay. Returns how many it has. */
  insert(tenantId: string, jobId: string, ranges: readonly FileRange[]): Promise<number>;
  list(tenantId: string, jobId: string): Promise<ImportRange[]>;
  /** Under which numbers the owner knows the ranges of a job; the rows of a job that was not split are one range. */
  numbers(tenantId: string, jobId: string): Promise<number[]>;
  /** @throws LostProgress where the job has no such range any more */
  get(tenantId: string, jobId: string, number: number): Promise<ImportRange>;
  /** How many batches of all ranges of a job are counted. @throws LostProgress where it has no ranges any more */
  countedBatches(tenantId: string, jobId: string): Promise<number>;
  /**
   * Counts a batch of a range, once however often it is repeated, and stores its failed rows.
   * Returns whether the job was cancelled, and the bytes of the failed rows that were stored.
   */
  countBatch(
    tenantId: string,
    jobId: string,
    range: number,
    batch: CountedBatch,
  ): Promise<{ isCancelled: boolean; failedBytes: number }>;
}

export function rangeStore(db: TenantDatabase<Prisma.TransactionClient>): RangeStore {
  const list: RangeStore['list'] = (tenantId, jobId) =>
    db.inTenant(tenantId, async (tx) => {
      const rows = await tx.importRange.findMany({ where: { tenantId, jobId }, orderBy: { number: 'asc' } });
      return rows.map(({ number, startByte, endByte, recordsBefore, lastBatch }) => ({
        number,
        startByte: Number(startByte),
        endByte: endByte === null ? null : Number(endByte),
        recordsBefore,
        lastBatch,
      }));
    });

  return {
    list,

    async countedBatches(tenantId, jobId) {
      const stored = await list(tenantId, jobId);
      if (stored.length === 0) throw new LostProgress(`The job ${jobId} has no ranges.`);
      return stored.reduce((sum, { lastBatch }) => sum + lastBatch, 0);
    },

    async numbers(tenantId, jobId) {
      const stored = await list(tenantId, jobId);
      return stored.length > 0 ? stored.map(({ number }) => number) : [0];
    },

    insert: (tenantId, jobId, ranges) =>
      db.inTenant(tenantId, async (tx) => {
        // Another run may store its own at the same time, with other borders, and the two are not to be mixed.
        await tx.$queryRaw`SELECT FROM import_job
          WHERE tenant_id = ${tenantId}::uuid AND id = ${jobId}::uuid FOR NO KEY UPDATE`;
        const stored = await tx.importRange.count({ where: { tenantId, jobId } });
        if (stored > 0) return stored;
        const data = ranges.map((range, number) => ({ tenantId, jobId, number, ...range }));
        return (await tx.importRange.createMany({ data })).count;
      }),

    async get(tenantId, jobId, number) {
      const range = (await list(tenantId, jobId)).find((candidate) => candidate.number === number);
      if (!range) throw new LostProgress(`The job ${jobId} has no range ${number}.`);
      return range;
    },

    async countBatch(tenantId, jobId, range, { number, counts, failedParts, bytesDone }) {
      const failedBytes = bytesOfParts(failedParts);
      return db.inTenant(tenantId, async (tx) => {
        const [job] = await tx.$queryRawUnsafe<{ cancelled: boolean }[]>(
          COUNT_BATCH,
          tenantId,
          jobId,
          range,
          number,
          counts.totalRows,
          counts.insertedRows,
          counts.updatedRows,
          counts.skippedRows,
          counts.failedRows,
          BigInt(bytesDone),
          failedBytes,
        );
        if (!job) {
          const stored = await tx.importJob.findUnique({ where: { tenantId_id: { tenantId, id: jobId } } });
          return { isCancelled: stored?.cancelRequestedAt != null, failedBytes: 0 };
        }
        await insertFailedParts(tx, tenantId, jobId, failedParts);
        return { isCancelled: job.cancelled, failedBytes };
      });
    },
  };
}

/** Advances the range first: of repeated batches only one can. The bytes read of a job are the sum of its ranges. */
const COUNT_BATCH = `
  WITH before AS (
    SELECT bytes_done FROM import_range WHERE tenant_id = $1::uuid AND job_id = $2::uuid AND number = $3::int
  ), advanced AS (
    UPDATE import_range SET last_batch = $4::int, bytes_done = GREATEST(bytes_done, $10::bigint)
    WHERE tenant_id = $1::uuid AND job_id = $2::uuid AND number = $3::int AND last_batch = $4::int - 1
      AND EXISTS (
        SELECT FROM import_job WHERE tenant_id = $1::uuid AND id = $2::uuid AND status = 'Executing'
      )
    RETURNING tenant_id, job_id
  )
  UPDATE import_job SET
    last_batch = last_batch + 1, total_rows = total_rows + $5::int, inserted_rows = inserted_rows + $6::int,
    updated_rows = updated_rows + $7::int, skipped_rows = skipped_rows + $8::int, failed_rows = failed_rows + $9::int,
    failed_bytes = failed_bytes + $11::bigint,
    bytes_done = bytes_done + GREATEST(0, $10::bigint - (SELECT bytes_done FROM before)), progress_at = now()
  FROM advanced WHERE import_job.tenant_id = advanced.tenant_id AND import_job.id = advanced.job_id AND status = 'Executing'
  RETURNING cancel_requested_at IS NOT NULL AS cancelled`;
