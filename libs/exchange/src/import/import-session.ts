import { newId } from '@plinth/kernel/uuid';
import { inTenantConnection, isRetryable, retryConflicts } from '@plinth/runtime/postgres/postgres';
import type { FairPool } from '@plinth/runtime/postgres/fair-pool';
import {
  inBulkTransaction,
  openBulkTransaction,
  type BulkDatabase,
  type BulkTransaction,
} from '../bulk-transaction';
import type { Batch, BatchOutcome } from './batch';
import { BatchImporter, type ImportOptions, type PreparedBatch } from './batch-importer';
import {
  advanceLedger,
  applyOnce,
  ledgerOf,
  openLedger,
  recordOutcome,
  sealLedger,
  type BatchKey,
} from './import-ledger';
import { UnwrittenKeys } from './unwritten-keys';

/** What is to be known of a batch while it is applied, and of the one before it. */
export interface Applying {
  /** The batch before is committed, or it failed and with it this one. */
  before?: Promise<unknown> | undefined;
  /** Called when the database has the rows, so that there is time for the next batch; perhaps never. */
  onSent(): void;
  /** Called when all that is left is the commit, so that the next batch need not wait for the disk; perhaps never. */
  onWritten(): void;
}

/** One stream of batches of an import job. */
export interface ImportSession {
  lastBatch: number;
  /** Reads the cells of a batch; needs no database. */
  prepare(batch: Batch): Promise<PreparedBatch>;
  /** Applies a batch, or returns `sealed` when the job accepts no more. */
  apply(batch: Batch, prepared: PreparedBatch, applying: Applying): Promise<BatchOutcome | 'sealed'>;
  /** Ends the import after its last batch; returns whether it is committed. */
  end(): Promise<boolean>;
  /** Rolls back what is not committed. */
  close(): Promise<void>;
}

/** Opens one stream of batches of a job: after which batch it continues, and how batches are applied. */
export async function openImportSession(
  database: BulkDatabase,
  options: ImportOptions,
): Promise<ImportSession> {
  const { caller, jobId, commit, range } = options;
  if (commit === 'NEVER') return dryRunSession(database, options);
  const ledger = await inBulkTransaction(database, caller.tenantId, ({ connection }) =>
    openLedger(connection, caller.tenantId, jobId, range),
  );
  const importer = new BatchImporter(options, ledger.unwrittenKeys);
  return commit === 'EACH_BATCH'
    ? eachBatchSession(database, options, importer, ledger.lastBatch)
    : singleTransactionSession(database, options, importer, ledger.lastBatch);
}

/** Rejects all further batches of a range of a job; returns the number of the last one that was applied. */
export const sealImport = (pool: FairPool, tenantId: string, jobId: string, range: number): Promise<number> =>
  inTenantConnection(pool, tenantId, (connection) => sealLedger(connection, tenantId, jobId, range));

const batchKeyOf = ({ caller, jobId, range }: ImportOptions, { number }: Batch): BatchKey => ({
  tenantId: caller.tenantId,
  ledgerId: ledgerOf(jobId, range),
  number,
});

/** Applies a batch unless another session did. */
async function applyNext(
  transaction: BulkTransaction,
  options: ImportOptions,
  importer: BatchImporter,
  batch: Batch,
  prepared: PreparedBatch,
  applying: Pick<Applying, 'onSent'>,
): Promise<BatchOutcome | 'sealed'> {
  let isApplied = false;
  const outcome = await applyOnce(transaction.connection, batchKeyOf(options, batch), () => {
    isApplied = true;
    return importer.write(transaction, batch, prepared, applying);
  });
  if (!isApplied) importer.noteOtherSession();
  return outcome;
}

/** The rows of a batch are to be rolled back, since another session applied it or the job was sealed. */
class NotNext extends Error {}

/**
 * Applies a batch whose rows may all be new in a transaction of its own while the batch before is being committed, for
 * which it waits before it looks for anything: its rows come first, and its place in the ledger comes last.
 */
async function applyBesideCommit(
  transaction: BulkTransaction,
  options: ImportOptions,
  importer: BatchImporter,
  batch: Batch,
  prepared: PreparedBatch,
  { before, onSent }: Applying,
): Promise<BatchOutcome> {
  const hooks = { onSent, beforeLookUps: () => before };
  const written = await importer.write(transaction, batch, prepared, hooks);
  await before;
  const key = batchKeyOf(options, batch);
  if (!(await advanceLedger(transaction.connection, key))) throw new NotNext();
  await recordOutcome(transaction.connection, key, written);
  return written.outcome;
}

function eachBatchSession(
  database: BulkDatabase,
  options: ImportOptions,
  importer: BatchImporter,
  lastBatch: number,
): ImportSession {
  const { definition, caller } = options;
  const applyWith = (
    apply: typeof applyNext | typeof applyBesideCommit,
    batch: Batch,
    prepared: PreparedBatch,
    applying: Applying,
  ) =>
    inBulkTransaction(database, caller.tenantId, async (transaction) => {
      const outcome = await apply(transaction, options, importer, batch, prepared, applying);
      applying.onWritten();
      return outcome;
    });
  return {
    lastBatch,
    prepare: (batch) => importer.prepare(batch),
    async apply(batch, prepared, applying) {
      const isBeside = applying.before !== undefined && prepared.newRows !== undefined;
      if (!isBeside) await applying.before;
      const outcome = await applyWith(
        isBeside ? applyBesideCommit : applyNext,
        batch,
        prepared,
        applying,
      ).catch(async (error: unknown) => {
        // Another session may hold the place in the ledger and wait for these rows, which Postgres takes for a deadlock.
        if (!(error instanceof NotNext) && !isRetryable(error)) throw error;
        await applying.before;
        // Rows have ids once they were written, so they are read anew.
        return retryConflicts(async () =>
          applyWith(applyNext, batch, await importer.prepare(batch), applying),
        );
      });
      definition.afterCommit?.({ caller });
      return outcome;
    },
    end: async () => true,
    close: async () => {},
  };
}

/**
 * A dry-run has an id of its own, so that those of one job know nothing of each other. Its transaction holds nothing but
 * what it knows of earlier batches, each of which is undone as soon as it was tried out.
 */
async function dryRunSession(database: BulkDatabase, options: ImportOptions): Promise<ImportSession> {
  const { run, close } = await openBulkTransaction(database, options.caller.tenantId);
  const keys = UnwrittenKeys.ofDryRun();
  const importer = new BatchImporter({ ...options, jobId: newId() }, keys);
  let applying: Promise<BatchOutcome> | undefined;
  return {
    lastBatch: 0,
    prepare: (batch) => importer.prepare(batch),
    apply(batch, prepared, { onSent }) {
      let rows: PreparedBatch | undefined = prepared;
      applying = retryConflicts(async () => {
        // Rows have ids once they were written, so they are read anew.
        const next = rows ?? (await importer.prepare(batch));
        rows = undefined;
        return run((transaction) => importer.tryOut(transaction, batch, next, { onSent }));
      });
      return applying;
    },
    end: async () => false,
    async close() {
      try {
        await close();
      } finally {
        // Whoever cancels a dry-run does not wait for its batch, which still looks for keys and keeps its own.
        await applying?.catch(() => undefined);
        keys.recent?.close();
      }
    },
  };
}

async function singleTransactionSession(
  database: BulkDatabase,
  options: ImportOptions,
  importer: BatchImporter,
  lastBatch: number,
): Promise<ImportSession> {
  const { definition, caller } = options;
  const { run, commit, close } = await openBulkTransaction(database, caller.tenantId);
  return {
    lastBatch,
    prepare: (batch) => importer.prepare(batch),
    apply: (batch, prepared, { onSent }) =>
      run((transaction) => applyNext(transaction, options, importer, batch, prepared, { onSent })),
    async end() {
      await commit();
      definition.afterCommit?.({ caller });
      return true;
    },
    close,
  };
}
