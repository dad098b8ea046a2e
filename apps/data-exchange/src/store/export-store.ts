import type { ListRequest } from '@plinth/http/paging';
import { findPage, toWhere } from '@plinth/http/prisma-list';
import { ExportPhase, type ExportFormat } from '@plinth/contracts/data-exchange/shapes';
import type { Caller } from '@plinth/kernel/caller';
import { recordBlob } from '@plinth/runtime/blobs/unrecorded-blobs';
import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { readByIndexes } from '@plinth/runtime/postgres/read-by-indexes';
import {
  recordOperation,
  runOnce,
  runUnlessRecorded,
  type Operation,
} from '@plinth/runtime/postgres/run-once';
import type { ExportRequest } from '../domain/export-job';
import type { TenantUsage } from '../domain/tenant-quota';
import { publishExportFinished } from '../events/published';
import { exportAlreadyEnded, exportJobNotFound } from '../domain/problems';
import type { ExportJob as ExportJobRow, Prisma } from '../generated/client';
import { JOB_BATCH_SIZE, jobRecords, jobRetention, type JobRetention } from './job-records';
import { countUnfinishedJobs, usageBeforeFile } from './tenant-usage-store';

export type ExportJob = Omit<ExportJobRow, 'request' | 'caller' | 'format' | 'phase' | 'fileSizeBytes'> & {
  request: ExportRequest;
  caller: Caller;
  format: ExportFormat;
  phase: ExportPhase | null;
  fileSizeBytes: number | null;
};

/** A job without what it exports, which may be large: many jobs are read together only like this. */
export type ExportState = Omit<ExportJob, keyof typeof withoutLarge>;

const withoutLarge = { request: true, caller: true } as const;

export type NewExportJob = Pick<
  ExportJob,
  | 'tenantId'
  | 'id'
  | 'definitionName'
  | 'permission'
  | 'widerPermission'
  | 'format'
  | 'request'
  | 'caller'
  | 'createdBy'
  | 'createdAt'
> & { operationId: string | null; operationBodyHash?: string | undefined };

export interface ExportProgress {
  phase: ExportPhase;
  rowsDone: number;
}

export interface WrittenFile {
  blobKey: string;
  fileName: string;
  sizeBytes: number;
  sha256: string;
  rowCount: number;
  at: Date;
}

export interface ExportStore extends JobRetention {
  /** Creates a job; a repeated operation finds the job that it created first. @param requireRoom throws where there is none */
  insert(job: NewExportJob, requireRoom?: (unfinishedJobs: number) => void): Promise<ExportJob>;
  /** @throws Problem `export-job-not-found`. */
  getState(tenantId: string, id: string): Promise<ExportState>;
  list(tenantId: string, list: ListRequest): Promise<{ rows: ExportState[]; totalCount: number | null }>;
  /**
   * Starts a run of the job, which stores its file under this key; returns undefined when the job has ended or is gone. The key in
   * the job is that of the run before, if there was one.
   */
  begin(tenantId: string, id: string, blobKey: string): Promise<ExportJob | undefined>;
  recordProgress(tenantId: string, id: string, progress: ExportProgress): Promise<{ isCancelled: boolean }>;
  /**
   * Ends the job with the file of the run that was started last, which was begun as an unrecorded one; returns whether this is
   * the file of the job.
   * @param requireRoom throws where there is none, and the job goes on
   */
  complete(
    tenantId: string,
    id: string,
    file: WrittenFile,
    requireRoom?: (used: TenantUsage) => void,
  ): Promise<boolean>;
  /** Whether the job ended with the file under this key. */
  isFileOfJob(tenantId: string, id: string, blobKey: string): Promise<boolean>;
  fail(tenantId: string, id: string, reason: string, at: Date): Promise<void>;
  /** A repeated operation finds that it is done. @throws Problem `export-already-ended`. */
  cancel(operation: Operation, id: string, at: Date): Promise<void>;
  /** Jobs of all tenants that ended before these times and whose file may still be stored. */
  listWithFile(endedBefore: {
    completed: Date;
    failed: Date;
  }): Promise<{ tenantId: string; id: string; blobKey: string | null }[]>;
  /** Also forgets what was asked for and by whom, which may be large and nobody needs any more. */
  recordFileRemoval(tenantId: string, id: string, at: Date): Promise<void>;
  /** Records that Temporal was asked to run the job. */
  recordStart(tenantId: string, id: string, at: Date): Promise<void>;
}

/** What comes in the transaction of a change that ends a job. */
interface Change {
  operation?: Operation;
  blobKey?: string;
  requireRoom?: ((used: TenantUsage) => void) | undefined;
}

const RUNNING = ['Queued', 'Exporting'];

export function exportStore(db: TenantDatabase<Prisma.TransactionClient>): ExportStore {
  const getState: ExportStore['getState'] = (tenantId, id) =>
    db.inTenant(tenantId, async (tx) => {
      const key = { tenantId_id: { tenantId, id } };
      const row = await tx.exportJob.findUnique({ where: key, omit: withoutLarge });
      if (!row) throw exportJobNotFound(id);
      return toState(row);
    });
  const isFileOfJob: ExportStore['isFileOfJob'] = async (tenantId, id, blobKey) => {
    const state = await getState(tenantId, id);
    return state.status === 'Completed' && state.blobKey === blobKey;
  };
  /** Changes a job that has not ended, and publishes when that ends it; returns whether it changed. */
  const changeRunning = async (
    tenantId: string,
    id: string,
    data: Prisma.ExportJobUpdateManyMutationInput,
    { operation, blobKey, requireRoom }: Change = {},
  ): Promise<boolean> => {
    const where = { tenantId, id, status: { in: RUNNING }, ...(blobKey === undefined ? {} : { blobKey }) };
    return db.inTenant(tenantId, async (tx) => {
      const used = requireRoom && (await usageBeforeFile(tx, tenantId));
      const { count } = await tx.exportJob.updateMany({ where, data });
      if (count > 0 && used) requireRoom(used);
      if (count > 0 && operation) await recordOperation(tx, operation, null);
      if (count > 0 && blobKey !== undefined) await recordBlob(tx, { tenantId, key: blobKey });
      if (count > 0 && data.completedAt) {
        const job = await tx.exportJob.findUniqueOrThrow({ where: { tenantId_id: { tenantId, id } } });
        await publishExportFinished(tx, toJob(job));
      }
      return count > 0;
    });
  };

  return {
    ...jobRecords(db, (tx) => tx.exportJob),
    ...jobRetention(db, (tx) => tx.exportJob, { status: { notIn: RUNNING }, fileRemovedAt: { not: null } }),
    getState,
    isFileOfJob,

    recordFileRemoval: async (tenantId, id, at) => {
      const data = { fileRemovedAt: at, request: {}, caller: {} };
      await db.inTenant(tenantId, (tx) => tx.exportJob.updateMany({ where: { tenantId, id }, data }));
    },

    insert: ({ request, caller, operationId, operationBodyHash, ...job }, requireRoom) =>
      db.inTenant(job.tenantId, async (tx) => {
        const { tenantId } = job;
        const operation = { tenantId, operationId: operationId ?? undefined, operationBodyHash };
        const { id } = await runOnce(tx, operation, async () => {
          if (requireRoom) requireRoom(await countUnfinishedJobs(tx, tenantId));
          await tx.exportJob.create({
            data: { ...job, status: 'Queued', request: request as object, caller: caller as object },
          });
          return { id: job.id };
        });
        return toJob(await tx.exportJob.findUniqueOrThrow({ where: { tenantId_id: { tenantId, id } } }));
      }),

    list: (tenantId, list) =>
      db.inTenant(tenantId, async (tx) => {
        await readByIndexes(tx, 'for-values');
        const { rows, totalCount } = await findPage(list, {
          selection: { AND: [{ tenantId }, toWhere(list, [])] },
          dates: ['createdAt'],
          find: (page) => tx.exportJob.findMany({ ...page, omit: withoutLarge }),
          count: (all) => tx.exportJob.count(all),
        });
        return { rows: rows.map(toState), totalCount };
      }),

    begin: (tenantId, id, blobKey) =>
      db.inTenant(tenantId, async (tx) => {
        const before = await tx.exportJob.findUnique({ where: { tenantId_id: { tenantId, id } } });
        if (!before) return undefined;
        const begun = { status: 'Exporting', phase: ExportPhase.WritingRows, rowsDone: 0, blobKey };
        const { count } = await tx.exportJob.updateMany({
          where: { tenantId, id, status: { in: RUNNING } },
          data: { ...begun, progressAt: new Date() },
        });
        return count > 0 ? toJob(before) : undefined;
      }),

    async recordProgress(tenantId, id, { phase, rowsDone }) {
      await changeRunning(tenantId, id, { phase, rowsDone, progressAt: new Date() });
      return { isCancelled: (await getState(tenantId, id)).cancelRequestedAt !== null };
    },

    async complete(tenantId, id, { blobKey, fileName, sizeBytes, sha256, rowCount, at }, requireRoom) {
      const completed = {
        status: 'Completed',
        phase: null,
        fileName,
        fileSizeBytes: BigInt(sizeBytes),
        sha256,
        rowCount,
        rowsDone: rowCount,
        completedAt: at,
      };
      return (
        (await changeRunning(tenantId, id, completed, { blobKey, requireRoom })) ||
        isFileOfJob(tenantId, id, blobKey)
      );
    },

    async fail(tenantId, id, reason, at) {
      const ended = { status: 'Failed', phase: null, errorMessage: reason, completedAt: at };
      await changeRunning(tenantId, id, ended);
    },

    async cancel(operation, id, at) {
      const { tenantId } = operation;
      const cancelled = {
        status: 'Failed',
        phase: null,
        errorMessage: 'The export was cancelled.',
        cancelRequestedAt: at,
        completedAt: at,
      };
      await runUnlessRecorded(db, operation, async () => {
        if (!(await changeRunning(tenantId, id, cancelled, { operation })))
          throw exportAlreadyEnded((await getState(tenantId, id)).status);
      });
    },

    listWithFile: ({ completed, failed }) =>
      db.inPlatform(async (tx) => {
        await readByIndexes(tx, 'for-values');
        return tx.exportJob.findMany({
          where: {
            fileRemovedAt: null,
            // What an index is looked up for: it has no states.
            completedAt: { lt: completed > failed ? completed : failed },
            OR: [
              { status: 'Completed', completedAt: { lt: completed } },
              { status: 'Failed', completedAt: { lt: failed } },
            ],
          },
          select: { tenantId: true, id: true, blobKey: true },
          orderBy: { completedAt: 'asc' },
          take: JOB_BATCH_SIZE,
        });
      }),
  };
}

const toState = (row: Omit<ExportJobRow, keyof typeof withoutLarge>): ExportState => ({
  ...row,
  format: row.format as ExportFormat,
  phase: row.phase as ExportPhase | null,
  fileSizeBytes: row.fileSizeBytes === null ? null : Number(row.fileSizeBytes),
});

const toJob = ({ request, caller, ...row }: ExportJobRow): ExportJob => ({
  ...toState(row),
  request: request as unknown as ExportRequest,
  caller: caller as unknown as Caller,
});
