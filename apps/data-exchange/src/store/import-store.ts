import type { ListRequest } from '@plinth/conventions/paging';
import { findPage, toWhere } from '@plinth/conventions/prisma-list';
import type { ImportJobStatus } from '@plinth/contracts/data-exchange/shapes';
import type { Caller } from '@plinth/kernel/caller';
import type { TenantDatabase } from '@plinth/runtime/postgres';
import type { FailedRow } from '../domain/failed-row';
import { requireState, statesFor, type ImportStep, type RowCounts } from '../domain/import-job';
import type { ColumnMapping } from '../domain/mapping';
import { importJobNotFound } from '../domain/problems';
import type { FileFormat } from '../formats/file-format';
import { Prisma, type ImportJob as ImportJobRow } from '../generated/client';
import { keepFailedRows } from './failed-rows';
import { tellImportEnd } from './tell-end';

export interface ImportOptions {
  mode: 'insert' | 'update' | 'upsert';
  onError: 'continue' | 'abort';
  /** Of a workbook; the first one where none is named. */
  sheet?: string;
}

export type ImportJob = Omit<
  ImportJobRow,
  'format' | 'headers' | 'mappings' | 'options' | 'caller' | 'fileSizeBytes' | 'bytesDone'
> & {
  format: FileFormat;
  headers: string[] | null;
  mappings: ColumnMapping[] | null;
  options: Partial<ImportOptions>;
  caller: Caller | null;
  fileSizeBytes: number;
  bytesDone: number;
};

export type NewImportJob = Pick<
  ImportJob,
  | 'tenantId'
  | 'id'
  | 'definitionName'
  | 'permission'
  | 'originalFileName'
  | 'mimeType'
  | 'fileSizeBytes'
  | 'sha256'
  | 'blobKey'
  | 'format'
  | 'createdBy'
  | 'createdAt'
>;

/** A failed row together with what it held. */
export interface StoredFailedRow extends FailedRow {
  cells: string[];
}

export interface BatchNote {
  number: number;
  counts: RowCounts;
  failedRows: readonly StoredFailedRow[];
  bytesDone: number;
}

export interface ImportStore {
  insert(job: NewImportJob): Promise<ImportJob>;
  find(tenantId: string, id: string): Promise<ImportJob | undefined>;
  /** @throws Problem `import-job-not-found`. */
  get(tenantId: string, id: string): Promise<ImportJob>;
  list(tenantId: string, list: ListRequest): Promise<{ rows: ImportJob[]; totalCount: number | null }>;
  /** Changes a job that is in a state for this step. @throws Problem `import-in-wrong-state`. */
  advance(
    tenantId: string,
    id: string,
    step: ImportStep,
    change: Prisma.ImportJobUpdateManyMutationInput,
  ): Promise<ImportJob>;
  /** Notes how the file is to be read; `startsOver` where what was previewed and mapped is void then. */
  correctFormat(
    tenantId: string,
    id: string,
    format: FileFormat,
    options: { startsOver: boolean },
  ): Promise<ImportJob>;
  /** Notes the columns of the sheet that a job imports. */
  noteHeaders(tenantId: string, id: string, headers: readonly string[]): Promise<void>;
  /** Ends a job that does not execute yet; answers whether it did not. */
  cancelBefore(tenantId: string, id: string, at: Date): Promise<boolean>;
  /** Ends a job that executes; later attempts change nothing. */
  finish(
    tenantId: string,
    id: string,
    end: {
      status: ImportJobStatus;
      counts?: RowCounts;
      failedRows?: readonly StoredFailedRow[];
      errorMessage?: string;
      at: Date;
    },
  ): Promise<void>;
  /** Failed rows after a row number, in their order. */
  failedRows(tenantId: string, id: string, after: number, take: number): Promise<StoredFailedRow[]>;
  /** The last imports of a definition that gave rows back. */
  withFailedRows(tenantId: string, definitionName: string): Promise<ImportJob[]>;
  savedMapping(tenantId: string, definitionName: string, headerHash: string): Promise<ColumnMapping[]>;
  saveMapping(
    tenantId: string,
    definitionName: string,
    headerHash: string,
    mappings: ColumnMapping[],
  ): Promise<void>;
  /** Jobs of all tenants that nobody has executed since they were uploaded before this time. */
  abandoned(uploadedBefore: Date): Promise<{ tenantId: string; id: string }[]>;
  /** Jobs of all tenants that ended before this time and whose file was not seen to be removed. */
  withFileLeft(endedBefore: Date): Promise<{ tenantId: string; id: string; blobKey: string }[]>;
  noteFileRemoved(tenantId: string, id: string, at: Date): Promise<void>;
  /** Jobs of all tenants that should run and may not: never started, or silent since. */
  overdue(silentSince: Date): Promise<{ tenantId: string; id: string }[]>;
  /** Notes that Temporal was asked to run the job. */
  noteStart(tenantId: string, id: string, at: Date): Promise<void>;
}

const BEFORE_EXECUTION = [...statesFor('preview')];
const FINAL = [...statesFor('read its report')];
const SWEPT_AT_ONCE = 100;
/** Of how many imports a tenant repairs rows at the same time. */
const CORRECTED_AT_ONCE = 20;

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

  const advance: ImportStore['advance'] = async (tenantId, id, step, change) => {
    const changed = await db.inTenant(tenantId, async (tx) => {
      const where = { tenantId, id, status: { in: [...statesFor(step)] } };
      const { count } = await tx.importJob.updateMany({ where, data: change });
      if (count === 0) return undefined;
      return toJob(await tx.importJob.findUniqueOrThrow({ where: { tenantId_id: { tenantId, id } } }));
    });
    if (changed) return changed;
    const job = await get(tenantId, id);
    requireState(step, job.status);
    throw new Error('The job changed its state twice in between.');
  };

  return {
    find,
    get,
    advance,

    correctFormat: (tenantId, id, format, { startsOver }) =>
      advance(tenantId, id, 'correct its format', {
        format: format as object,
        ...(startsOver ? { status: 'Created', headers: Prisma.DbNull, mappings: Prisma.DbNull } : {}),
      }),

    insert: ({ format, ...job }) =>
      db.inTenant(job.tenantId, async (tx) =>
        toJob(
          await tx.importJob.create({
            data: { ...job, status: 'Created', format: format as object, options: {} },
          }),
        ),
      ),

    list: (tenantId, list) =>
      db.inTenant(tenantId, async (tx) => {
        const { rows, totalCount } = await findPage(list, {
          selection: { AND: [{ tenantId }, toWhere(list, [])] },
          dates: ['createdAt'],
          find: (page) => tx.importJob.findMany(page),
          count: (all) => tx.importJob.count(all),
        });
        return { rows: rows.map(toJob), totalCount };
      }),

    noteHeaders: async (tenantId, id, headers) => {
      await db.inTenant(tenantId, (tx) =>
        tx.importJob.updateMany({ where: { tenantId, id }, data: { headers: [...headers] } }),
      );
    },

    async cancelBefore(tenantId, id, at) {
      const where = { tenantId, id, status: { in: BEFORE_EXECUTION } };
      const data = { status: 'Cancelled', completedAt: at };
      return db.inTenant(tenantId, async (tx) => {
        const { count } = await tx.importJob.updateMany({ where, data });
        if (count > 0) await tellImportEnd(tx, tenantId, id);
        return count > 0;
      });
    },

    finish: (tenantId, id, { status, counts, failedRows, errorMessage, at }) =>
      db.inTenant(tenantId, async (tx) => {
        const { count } = await tx.importJob.updateMany({
          where: { tenantId, id, status: 'Executing' },
          data: {
            status,
            completedAt: at,
            ...counts,
            ...(errorMessage === undefined ? {} : { errorMessage }),
          },
        });
        if (count === 0) return;
        if (failedRows && failedRows.length > 0) await keepFailedRows(tx, tenantId, id, failedRows);
        await tellImportEnd(tx, tenantId, id);
      }),

    failedRows: (tenantId, jobId, after, take) =>
      db.inTenant(tenantId, async (tx) => {
        const rows = await tx.importFailedRow.findMany({
          where: { tenantId, jobId, rowNumber: { gt: after } },
          orderBy: { rowNumber: 'asc' },
          take,
        });
        return rows.map(({ rowNumber, kind, details, cells }) => ({
          rowNumber,
          kind: kind as FailedRow['kind'],
          details: details as unknown as FailedRow['details'],
          cells: cells as string[],
        }));
      }),

    withFailedRows: (tenantId, definitionName) =>
      db.inTenant(tenantId, async (tx) =>
        (
          await tx.importJob.findMany({
            where: { tenantId, definitionName, failedRows: { gt: 0 } },
            orderBy: { createdAt: 'desc' },
            take: CORRECTED_AT_ONCE,
          })
        ).map(toJob),
      ),

    savedMapping: (tenantId, definitionName, headerHash) =>
      db.inTenant(tenantId, async (tx) => {
        const row = await tx.savedMapping.findUnique({
          where: { tenantId_definitionName_headerHash: { tenantId, definitionName, headerHash } },
        });
        return (row?.mappings ?? []) as unknown as ColumnMapping[];
      }),

    saveMapping: (tenantId, definitionName, headerHash, mappings) =>
      db.inTenant(tenantId, async (tx) => {
        const key = { tenantId, definitionName, headerHash };
        const data = { mappings: mappings as unknown as Prisma.InputJsonValue, savedAt: new Date() };
        await tx.savedMapping.upsert({
          where: { tenantId_definitionName_headerHash: key },
          create: { ...key, ...data },
          update: data,
        });
      }),

    abandoned: (uploadedBefore) =>
      db.inPlatform((tx) =>
        tx.importJob.findMany({
          where: { status: { in: BEFORE_EXECUTION }, fileRemovedAt: null, createdAt: { lt: uploadedBefore } },
          select: { tenantId: true, id: true },
          take: SWEPT_AT_ONCE,
        }),
      ),

    withFileLeft: (endedBefore) =>
      db.inPlatform((tx) =>
        tx.importJob.findMany({
          where: { status: { in: FINAL }, fileRemovedAt: null, completedAt: { lt: endedBefore } },
          select: { tenantId: true, id: true, blobKey: true },
          take: SWEPT_AT_ONCE,
        }),
      ),

    noteFileRemoved: async (tenantId, id, at) => {
      await db.inTenant(tenantId, (tx) =>
        tx.importJob.updateMany({ where: { tenantId, id }, data: { fileRemovedAt: at } }),
      );
    },

    overdue: (silentSince) =>
      db.inPlatform((tx) =>
        tx.importJob.findMany({
          where: {
            status: 'Executing',
            OR: [
              { startedAt: null },
              {
                startedAt: { lt: silentSince },
                OR: [{ progressAt: null }, { progressAt: { lt: silentSince } }],
              },
            ],
          },
          select: { tenantId: true, id: true },
          take: SWEPT_AT_ONCE,
        }),
      ),

    noteStart: async (tenantId, id, at) => {
      await db.inTenant(tenantId, (tx) =>
        tx.importJob.updateMany({ where: { tenantId, id }, data: { startedAt: at } }),
      );
    },
  };
}

const toJob = (row: ImportJobRow): ImportJob => ({
  ...row,
  format: row.format as unknown as FileFormat,
  headers: row.headers as string[] | null,
  mappings: row.mappings as unknown as ColumnMapping[] | null,
  options: row.options as Partial<ImportOptions>,
  caller: row.caller as unknown as Caller | null,
  fileSizeBytes: Number(row.fileSizeBytes),
  bytesDone: Number(row.bytesDone),
});
