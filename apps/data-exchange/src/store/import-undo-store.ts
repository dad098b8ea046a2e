import {
  REPORT_ROW_ERRORS_MAX,
  type ImportUndoStatus,
  type KeptRowReason,
} from '@plinth/contracts/data-exchange/shapes';
import type { Caller } from '@plinth/kernel/caller';
import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { publishImportUndone } from '../events/published';
import { importAlreadyUndone } from '../domain/problems';
import type { ImportUndo as ImportUndoRow, Prisma } from '../generated/client';
import { jobRecords } from './job-records';
import { countUnfinishedJobs } from './tenant-usage-store';

export type ImportUndo = Omit<ImportUndoRow, 'caller' | 'lastWrite' | 'status'> & {
  status: ImportUndoStatus;
  caller: Caller;
  lastWrite: number | null;
};

export type UndoState = Pick<ImportUndo, 'status' | 'refusedRows'>;

export type BegunUndo = Pick<ImportUndo, 'tenantId' | 'jobId' | 'requestedAt'>;

export interface KeptRow {
  rowNumber: number | null;
  key: string;
  reason: KeptRowReason;
}

/** What the undo of one write of an import did with its rows. */
export interface UndoneWrite {
  number: number;
  removed: number;
  restored: number;
  gone: number;
  kept: readonly KeptRow[];
}

/** The undos of imports, one for each import. */
export interface ImportUndoStore {
  find(tenantId: string, jobId: string): Promise<ImportUndo | undefined>;
  /** How far the undos of these imports are, of those that have one. */
  states(tenantId: string, jobIds: readonly string[]): Promise<Map<string, UndoState>>;
  /**
   * Begins an undo, also again where rows were refused, or continues one that failed. @param requireRoom throws where there is none
   * @throws Problem `import-already-undone`.
   */
  begin(
    tenantId: string,
    jobId: string,
    by: { caller: Caller; at: Date },
    requireRoom?: (unfinishedJobs: number) => void,
  ): Promise<ImportUndo>;
  /**
   * Counts a write and stores its kept rows, once however often it is repeated, as long as the undo was not begun again.
   * Writes come in descending order.
   */
  countWrite(undo: BegunUndo, write: UndoneWrite): Promise<void>;
  /** Ends an undo; later attempts change nothing. */
  finish(
    tenantId: string,
    jobId: string,
    end: { status: ImportUndoStatus; errorMessage?: string; at: Date },
  ): Promise<void>;
  /** The first rows that were kept, up to `REPORT_ROW_ERRORS_MAX`, in the order of the file; the others are only counted. */
  keptRows(tenantId: string, jobId: string): Promise<KeptRow[]>;
  /** Records that Temporal was asked to run it. */
  recordStart(tenantId: string, jobId: string, at: Date): Promise<void>;
}

export function importUndoStore(db: TenantDatabase<Prisma.TransactionClient>): ImportUndoStore {
  const find: ImportUndoStore['find'] = (tenantId, jobId) =>
    db.inTenant(tenantId, async (tx) => {
      const row = await tx.importUndo.findUnique({ where: { tenantId_jobId: { tenantId, jobId } } });
      return row ? toUndo(row) : undefined;
    });

  const { recordStart } = jobRecords(db, (tx) => tx.importUndo, 'jobId');

  return {
    find,
    recordStart,

    states: (tenantId, jobIds) =>
      db.inTenant(tenantId, async (tx) => {
        const rows = await tx.importUndo.findMany({
          where: { tenantId, jobId: { in: [...jobIds] } },
          select: { jobId: true, status: true, refusedRows: true },
        });
        return new Map(
          rows.map(({ jobId, status, refusedRows }) => [
            jobId,
            { status: status as ImportUndoStatus, refusedRows },
          ]),
        );
      }),

    async begin(tenantId, jobId, { caller, at }, requireRoom) {
      return db.inTenant(tenantId, async (tx) => {
        if (requireRoom) requireRoom(await countUnfinishedJobs(tx, tenantId));
        await forgetRefused(tx, tenantId, jobId);
        const begun = await tx.$executeRawUnsafe(BEGIN, tenantId, jobId, JSON.stringify(caller), at);
        const key = { tenantId_jobId: { tenantId, jobId } };
        const undo = toUndo(await tx.importUndo.findUniqueOrThrow({ where: key }));
        if (begun === 0) throw importAlreadyUndone(undo.status);
        return undo;
      });
    },

    countWrite: ({ tenantId, jobId, requestedAt }, { number, removed, restored, gone, kept }) =>
      db.inTenant(tenantId, async (tx) => {
        const { count } = await tx.importUndo.updateMany({
          where: {
            tenantId,
            jobId,
            status: 'Undoing',
            requestedAt,
            OR: [{ lastWrite: null }, { lastWrite: { gt: number } }],
          },
          data: {
            lastWrite: number,
            progressAt: new Date(),
            removedRows: { increment: removed },
            restoredRows: { increment: restored },
            goneRows: { increment: gone },
            keptRows: { increment: kept.length },
            refusedRows: { increment: kept.filter(({ reason }) => reason === 'Refused').length },
          },
        });
        if (count === 0 || kept.length === 0) return;
        await tx.$executeRawUnsafe(INSERT_KEPT_ROWS, tenantId, jobId, number, JSON.stringify(kept));
        await tx.$executeRawUnsafe(DELETE_LATER_KEPT_ROWS, tenantId, jobId);
      }),

    finish: (tenantId, jobId, { status, errorMessage, at }) =>
      db.inTenant(tenantId, async (tx) => {
        const { count } = await tx.importUndo.updateMany({
          where: { tenantId, jobId, status: 'Undoing' },
          data: { status, completedAt: at, errorMessage: errorMessage ?? null },
        });
        if (count === 0) return;
        const job = await tx.importJob.findUniqueOrThrow({ where: { tenantId_id: { tenantId, id: jobId } } });
        const undo = await tx.importUndo.findUniqueOrThrow({
          where: { tenantId_jobId: { tenantId, jobId } },
        });
        await publishImportUndone(tx, job, toUndo(undo));
      }),

    keptRows: (tenantId, jobId) =>
      db.inTenant(tenantId, async (tx) => {
        const rows = await tx.importKeptRow.findMany({
          where: { tenantId, jobId },
          orderBy: [
            { rowNumber: { sort: 'asc', nulls: 'last' } },
            { writeNumber: 'asc' },
            { position: 'asc' },
          ],
          select: { rowNumber: true, key: true, reason: true },
          take: REPORT_ROW_ERRORS_MAX,
        });
        return rows.map((row) => ({ ...row, reason: row.reason as KeptRowReason }));
      }),
  };
}

/**
 * Lets an undo begin anew that was refused rows: others may undo them. All of its writes are counted again, since the owner
 * tells of each what became of its rows altogether.
 */
async function forgetRefused(tx: Prisma.TransactionClient, tenantId: string, jobId: string): Promise<void> {
  const { count } = await tx.importUndo.updateMany({
    where: { tenantId, jobId, status: 'PartiallyUndone', refusedRows: { gt: 0 } },
    data: {
      status: 'Failed',
      lastWrite: null,
      removedRows: 0,
      restoredRows: 0,
      goneRows: 0,
      keptRows: 0,
      refusedRows: 0,
    },
  });
  if (count > 0) await tx.importKeptRow.deleteMany({ where: { tenantId, jobId } });
}

/** More than one write keeps. */
const DELETED_MAX = 10_000;

/** As one text: Prisma takes many times the memory of the worker for the values of thousands of rows. */
const INSERT_KEPT_ROWS = `
  INSERT INTO import_kept_row (tenant_id, job_id, write_number, position, row_number, key, reason)
  SELECT $1::uuid, $2::uuid, $3::bigint, position - 1, (kept->>'rowNumber')::int, kept->>'key', kept->>'reason'
  FROM jsonb_array_elements($4::jsonb) WITH ORDINALITY AS k (kept, position)
  ORDER BY (kept->>'rowNumber')::int NULLS LAST, position LIMIT ${REPORT_ROW_ERRORS_MAX}`;

/**
 * Nobody reads more of them, and an undo may keep millions. A version before stored them all: they go in parts, since one
 * statement for all of them takes longer than it may. By their places: by keys it takes their square.
 */
const DELETE_LATER_KEPT_ROWS = `
  DELETE FROM import_kept_row
  WHERE tenant_id = $1::uuid AND job_id = $2::uuid AND ctid = ANY (ARRAY(
    SELECT ctid FROM import_kept_row WHERE tenant_id = $1::uuid AND job_id = $2::uuid
    ORDER BY row_number NULLS LAST, write_number, position
    OFFSET ${REPORT_ROW_ERRORS_MAX} LIMIT ${DELETED_MAX}))`;

/** An undo that failed continues where it stopped. */
const BEGIN = `
  INSERT INTO import_undo (tenant_id, job_id, status, caller, requested_at)
  VALUES ($1::uuid, $2::uuid, 'Undoing', $3::jsonb, $4::timestamptz)
  ON CONFLICT (tenant_id, job_id) DO UPDATE SET status = 'Undoing', caller = EXCLUDED.caller,
    requested_at = EXCLUDED.requested_at, started_at = NULL, completed_at = NULL, error_message = NULL
  WHERE import_undo.status = 'Failed'`;

const toUndo = (row: ImportUndoRow): ImportUndo => ({
  ...row,
  status: row.status as ImportUndoStatus,
  caller: row.caller as unknown as Caller,
  lastWrite: row.lastWrite === null ? null : Number(row.lastWrite),
});
