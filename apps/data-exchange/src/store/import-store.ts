import type { ListRequest } from '@plinth/http/paging';
import { findPage, toWhere } from '@plinth/http/prisma-list';
import type { ImportJobStatus } from '@plinth/contracts/data-exchange/shapes';
import type { Caller } from '@plinth/kernel/caller';
import { entityTag } from '@plinth/kernel/entity-tag';
import { recordBlob } from '@plinth/runtime/blobs/unrecorded-blobs';
import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { readByIndexes } from '@plinth/runtime/postgres/read-by-indexes';
import { recordOperation, type Operation } from '@plinth/runtime/postgres/run-once';
import { requireState, statesFor, type ImportStep, type RowCounts } from '../domain/import-job';
import type { ColumnMapping } from '../domain/mapping';
import { importJobNotFound } from '../domain/problems';
import type { TenantUsage } from '../domain/tenant-quota';
import { publishImportFinished } from '../events/published';
import type { FileFormat } from '../formats/file-format';
import { Prisma, type ImportJob as ImportJobRow } from '../generated/client';
import { bytesOfParts, insertFailedParts, type FailedPart } from './failed-row-store';
import { saveMapping, type SavedMapping } from './mapping-store';
import { JOB_BATCH_SIZE, jobRecords, jobRetention, type JobRetention } from './job-records';
import { countUnfinishedJobs, usageBeforeFile } from './tenant-usage-store';

export interface ImportOptions {
  mode: 'insert' | 'update' | 'upsert';
  onError: 'continue' | 'abort';
  /** Of a workbook; the first one unless named. */
  sheet?: string;
}

export type ImportJob = Omit<
  ImportJobRow,
  'format' | 'headers' | 'mappings' | 'options' | 'caller' | 'fileSizeBytes' | 'bytesDone' | 'failedBytes'
> & {
  format: FileFormat;
  headers: string[] | null;
  mappings: ColumnMapping[] | null;
  options: Partial<ImportOptions>;
  caller: Caller | null;
  fileSizeBytes: number;
  bytesDone: number;
  failedBytes: number;
};

/** A job without how its file is read and mapped, which may be large: many jobs are read together only like this. */
export type ImportState = Omit<ImportJob, keyof typeof withoutLarge>;

const withoutLarge = { format: true, headers: true, mappings: true, options: true, caller: true } as const;

export type NewImportJob = Pick<
  ImportJob,
  | 'tenantId'
  | 'id'
  | 'definitionName'
  | 'entityType'
  | 'permission'
  | 'widerPermission'
  | 'originalFileName'
  | 'mimeType'
  | 'fileSizeBytes'
  | 'sha256'
  | 'blobKey'
  | 'format'
  | 'createdBy'
  | 'createdAt'
>;

/** Somebody's change of a job. */
export interface JobChange {
  by: string;
  at: Date;
  /** Recorded with it, with the tag of the job after it, for `runUnlessRecorded`: without it a retry would be refused for what the first attempt did. */
  operation?: Operation;
}

export interface AdvanceOptions {
  change?: JobChange;
  /** What the change was worked out from. */
  from?: Pick<ImportJob, 'version'> & Partial<Pick<ImportJob, 'headers'>>;
  /** For a step that starts a job; throws where there is no room. */
  requireRoom?: (unfinishedJobs: number) => void;
  /** Its mappings are saved with the change, to be suggested again. */
  saves?: SavedMapping;
}

/** What `If-Match` of a step names: another one after each change by a person. */
export const tagOf = ({ version }: Pick<ImportJob, 'version'>): string => entityTag(version);

/** A job is no longer as it was when a change of it was worked out. */
export class JobChanged extends Error {}

/** One batch of an import, counted, with its failed rows. */
export interface CountedBatch {
  number: number;
  counts: RowCounts;
  failedParts: readonly FailedPart[];
  bytesDone: number;
}

export interface ImportStore extends JobRetention {
  /** Records a file that was begun as an unrecorded one. @param requireRoom throws where there is none for the file */
  insert(job: NewImportJob, requireRoom?: (usage: TenantUsage) => void): Promise<ImportJob>;
  find(tenantId: string, id: string): Promise<ImportJob | undefined>;
  /** @throws Problem `import-job-not-found`. */
  get(tenantId: string, id: string): Promise<ImportJob>;
  /** @throws Problem `import-job-not-found`. */
  getState(tenantId: string, id: string): Promise<ImportState>;
  list(tenantId: string, list: ListRequest): Promise<{ rows: ImportState[]; totalCount: number | null }>;
  /**
   * Changes a job that is in a state for this step.
   * @throws Problem `import-in-wrong-state`; JobChanged where it is no longer as it was when the change was worked out
   */
  advance(
    tenantId: string,
    id: string,
    step: ImportStep,
    data: Prisma.ImportJobUpdateManyMutationInput,
    options?: AdvanceOptions,
  ): Promise<ImportJob>;
  /** Stores how the file is read; `startsOver` discards its preview and mappings. */
  correctFormat(
    tenantId: string,
    id: string,
    format: FileFormat,
    options: { startsOver: boolean; change: JobChange; from: Pick<ImportJob, 'version'> },
  ): Promise<ImportJob>;
  /** Stores the columns of the sheet that a job imports while it executes, and how it is read. */
  keepLayout(
    tenantId: string,
    id: string,
    layout: { headers: readonly string[]; format: FileFormat },
  ): Promise<void>;
  /** Cancels a job that does not execute yet; returns whether it did. */
  cancelBeforeExecution(tenantId: string, id: string, at: Date, change?: JobChange): Promise<boolean>;
  /** Ends a job that executes; later attempts change nothing. */
  finish(
    tenantId: string,
    id: string,
    end: {
      status: ImportJobStatus;
      counts?: RowCounts;
      failedParts?: readonly FailedPart[];
      errorMessage?: string;
      at: Date;
    },
  ): Promise<void>;
  /** How the last imports of a definition with failed rows were read. */
  listWithFailedRows(
    tenantId: string,
    definitionName: string,
  ): Promise<Pick<ImportJob, 'format' | 'headers'>[]>;
  /** Jobs of all tenants that were uploaded before this time and never executed. */
  listAbandoned(uploadedBefore: Date): Promise<{ tenantId: string; id: string }[]>;
  /** Jobs of all tenants that ended before this time and whose file may still be stored. */
  listWithFile(endedBefore: Date): Promise<{ tenantId: string; id: string; blobKey: string }[]>;
  recordFileRemoval(tenantId: string, id: string, at: Date): Promise<void>;
  /** Jobs of all tenants that ended before this time and whose failed rows may still be stored. */
  listWithRows(endedBefore: Date): Promise<{ tenantId: string; id: string }[]>;
  /**
   * Removes the failed rows of an import, those that its undo kept, and how its columns were called and mapped; returns how
   * many rows.
   */
  removeRows(tenantId: string, id: string, at: Date): Promise<number>;
  /** Records that Temporal was asked to run the job. */
  recordStart(tenantId: string, id: string, at: Date): Promise<void>;
}

const BEFORE_EXECUTION = [...statesFor('preview')];
const FINAL = [...statesFor('read its report')];
/** How many imports of a tenant may have correction files in use. */
const CORRECTED_IMPORTS_MAX = 20;

/** About how many rows, or parts of up to 1,000, one statement removes: a large import takes longer than a statement may. */
const REMOVE_SOME_ROWS = [
  { table: 'import_failed_part', order: 'last_row', atOnce: 50, rows: 'row_count' },
  { table: 'import_failed_row', order: 'row_number', atOnce: 10_000, rows: '1' },
  { table: 'import_kept_row', order: 'write_number', atOnce: 10_000, rows: '1' },
].map(
  ({ table, order, atOnce, rows }) => `
    WITH removed AS (
      DELETE FROM ${table} WHERE tenant_id = $1::uuid AND job_id = $2::uuid AND ${order} <= coalesce((
        SELECT ${order} FROM ${table} WHERE tenant_id = $1::uuid AND job_id = $2::uuid
        ORDER BY ${order} OFFSET ${atOnce - 1} LIMIT 1), 9223372036854775807)
      RETURNING ${rows} AS rows
    ) SELECT coalesce(sum(rows), 0)::int AS rows FROM removed`,
);
const REMOVE_LARGE_PARTS = `
  UPDATE import_job SET rows_removed_at = $3::timestamptz, headers = NULL, mappings = NULL, caller = NULL,
    format = format - 'sheets' - 'findings' - 'foundDates'
  WHERE tenant_id = $1::uuid AND id = $2::uuid`;

export function importStore(db: TenantDatabase<Prisma.TransactionClient>): ImportStore {
  const find: ImportStore['find'] = (tenantId, id) =>
    db.inTenant(tenantId, async (tx) => {
      const row = await tx.importJob.findUnique({ where: { tenantId_id: { tenantId, id } } });
      return row ? toJob(row) : undefined;
    });
  const get: ImportStore['get'] = async (tenantId, id) => {
    const job = await find(tenantId, id);
    if (!job) throw importJobNotFound(id);
    return job;
  };

  const advance: ImportStore['advance'] = async (tenantId, id, step, data, options = {}) => {
    const { change, from, requireRoom, saves } = options;
    const changed = await db.inTenant(tenantId, async (tx) => {
      if (requireRoom) requireRoom(await countUnfinishedJobs(tx, tenantId));
      const where = { tenantId, id, status: { in: [...statesFor(step)] }, ...asRead(from) };
      const { count } = await tx.importJob.updateMany({ where, data: { ...data, ...recorded(change) } });
      if (count === 0) return undefined;
      if (saves) await saveMapping(tx, tenantId, saves);
      const job = toJob(await tx.importJob.findUniqueOrThrow({ where: { tenantId_id: { tenantId, id } } }));
      if (change?.operation) await recordOperation(tx, change.operation, tagOf(job));
      return job;
    });
    if (changed) return changed;
    const job = await get(tenantId, id);
    requireState(step, job.status);
    throw new JobChanged('The job was changed meanwhile.');
  };

  return {
    ...jobRecords(db, (tx) => tx.importJob),
    ...jobRetention(db, (tx) => tx.importJob, {
      status: { in: FINAL },
      fileRemovedAt: { not: null },
      rowsRemovedAt: { not: null },
    }),
    find,
    get,
    advance,

    getState: (tenantId, id) =>
      db.inTenant(tenantId, async (tx) => {
        const key = { tenantId_id: { tenantId, id } };
        const row = await tx.importJob.findUnique({ where: key, omit: withoutLarge });
        if (!row) throw importJobNotFound(id);
        return toState(row);
      }),

    correctFormat: (tenantId, id, format, { startsOver, ...options }) => {
      const fromStart = { status: 'Created', headers: Prisma.DbNull, mappings: Prisma.DbNull };
      const data = { format: format as object, ...(startsOver ? fromStart : {}) };
      return advance(tenantId, id, 'correct its format', data, options);
    },

    insert: ({ format, ...job }, requireRoom) =>
      db.inTenant(job.tenantId, async (tx) => {
        if (requireRoom) requireRoom(await usageBeforeFile(tx, job.tenantId));
        const created = await tx.importJob.create({
          data: { ...job, status: 'Created', format: format as object, options: {} },
        });
        await recordBlob(tx, { tenantId: job.tenantId, key: job.blobKey });
        return toJob(created);
      }),

    list: (tenantId, list) =>
      db.inTenant(tenantId, async (tx) => {
        await readByIndexes(tx, 'for-values');
        const { rows, totalCount } = await findPage(list, {
          selection: { AND: [{ tenantId }, toWhere(list, [])] },
          dates: ['createdAt'],
          find: (page) => tx.importJob.findMany({ ...page, omit: withoutLarge }),
          count: (all) => tx.importJob.count(all),
        });
        return { rows: rows.map(toState), totalCount };
      }),

    keepLayout: async (tenantId, id, { headers, format }) => {
      const data = { headers: [...headers], format: format as object };
      const where = { tenantId, id, status: 'Executing' };
      await db.inTenant(tenantId, (tx) => tx.importJob.updateMany({ where, data }));
    },

    async cancelBeforeExecution(tenantId, id, at, change) {
      const where = { tenantId, id, status: { in: BEFORE_EXECUTION } };
      const data = { status: 'Cancelled', completedAt: at, ...recorded(change) };
      return db.inTenant(tenantId, async (tx) => {
        const { count } = await tx.importJob.updateMany({ where, data });
        if (count === 0) return false;
        if (change?.operation) await recordOperation(tx, change.operation, null);
        await publishEnd(tx, tenantId, id);
        return true;
      });
    },

    async finish(tenantId, id, { status, counts, failedParts: parts = [], errorMessage, at }) {
      await db.inTenant(tenantId, async (tx) => {
        const { count } = await tx.importJob.updateMany({
          where: { tenantId, id, status: 'Executing' },
          data: {
            status,
            completedAt: at,
            ...counts,
            ...(parts.length === 0 ? {} : { failedBytes: bytesOfParts(parts) }),
            ...(errorMessage === undefined ? {} : { errorMessage }),
          },
        });
        if (count === 0) return;
        await insertFailedParts(tx, tenantId, id, parts);
        await publishEnd(tx, tenantId, id);
      });
    },

    listWithFailedRows: (tenantId, definitionName) =>
      db.inTenant(tenantId, async (tx) => {
        await readByIndexes(tx, 'for-values');
        const rows = await tx.importJob.findMany({
          where: { tenantId, definitionName, failedRows: { gt: 0 } },
          orderBy: { createdAt: 'desc' },
          take: CORRECTED_IMPORTS_MAX,
          select: { format: true, headers: true },
        });
        return rows.map(toReading);
      }),

    listAbandoned: (uploadedBefore) =>
      db.inPlatform(async (tx) => {
        await readByIndexes(tx, 'for-values');
        return tx.importJob.findMany({
          where: { status: { in: BEFORE_EXECUTION }, fileRemovedAt: null, createdAt: { lt: uploadedBefore } },
          select: { tenantId: true, id: true },
          orderBy: { createdAt: 'asc' },
          take: JOB_BATCH_SIZE,
        });
      }),

    listWithFile: (endedBefore) =>
      db.inPlatform(async (tx) => {
        await readByIndexes(tx, 'for-values');
        return tx.importJob.findMany({
          where: { status: { in: FINAL }, fileRemovedAt: null, completedAt: { lt: endedBefore } },
          select: { tenantId: true, id: true, blobKey: true },
          orderBy: { completedAt: 'asc' },
          take: JOB_BATCH_SIZE,
        });
      }),

    listWithRows: (endedBefore) =>
      db.inPlatform(async (tx) => {
        await readByIndexes(tx, 'for-values');
        return tx.importJob.findMany({
          where: { rowsRemovedAt: null, completedAt: { lt: endedBefore } },
          select: { tenantId: true, id: true },
          orderBy: { completedAt: 'asc' },
          take: JOB_BATCH_SIZE,
        });
      }),

    async removeRows(tenantId, id, at) {
      let removed = 0;
      for (const statement of REMOVE_SOME_ROWS) {
        let count: number;
        do {
          const [some] = await db.inTenant(tenantId, (tx) =>
            tx.$queryRawUnsafe<{ rows: number }[]>(statement, tenantId, id),
          );
          count = some!.rows;
          removed += count;
        } while (count > 0);
      }
      await db.inTenant(tenantId, (tx) => tx.$executeRawUnsafe(REMOVE_LARGE_PARTS, tenantId, id, at));
      return removed;
    },
  };
}

const recorded = (change: JobChange | undefined): Prisma.ImportJobUpdateManyMutationInput =>
  change ? { modifiedAt: change.at, modifiedBy: change.by, version: { increment: 1 } } : {};

/** Only the job as it was read. */
const asRead = ({ version, headers }: Partial<Pick<ImportJob, 'version' | 'headers'>> = {}) => ({
  ...(version === undefined ? {} : { version }),
  ...(headers === undefined ? {} : { headers: { equals: headers ?? Prisma.DbNull } }),
});

async function publishEnd(tx: Prisma.TransactionClient, tenantId: string, id: string): Promise<void> {
  const job = await tx.importJob.findUniqueOrThrow({ where: { tenantId_id: { tenantId, id } } });
  await publishImportFinished(tx, toJob(job));
}

const toState = <Row extends Pick<ImportJobRow, 'fileSizeBytes' | 'bytesDone' | 'failedBytes'>>(
  row: Row,
) => ({
  ...row,
  fileSizeBytes: Number(row.fileSizeBytes),
  bytesDone: Number(row.bytesDone),
  failedBytes: Number(row.failedBytes),
});

const toReading = (row: Pick<ImportJobRow, 'format' | 'headers'>) => ({
  format: row.format as unknown as FileFormat,
  headers: row.headers as string[] | null,
});

const toJob = (row: ImportJobRow): ImportJob => ({
  ...toState(row),
  ...toReading(row),
  mappings: row.mappings as unknown as ColumnMapping[] | null,
  options: row.options as Partial<ImportOptions>,
  caller: row.caller as unknown as Caller | null,
});
