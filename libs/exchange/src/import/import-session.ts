import { inTenantConnection } from '@plinth/runtime/postgres/postgres';
import type { FairPool } from '@plinth/runtime/postgres/fair-pool';
import {
  inBulkTransaction,
  openBulkTransaction,
  type BulkDatabase,
  type BulkTransaction,
} from '../bulk-transaction';
import type { Batch, BatchOutcome } from './batch';
import { BatchImporter, type ImportOptions, type PreparedBatch } from './batch-importer';
import { applyOnce, ledgerOf, openLedger, sealLedger, type BatchKey } from './import-ledger';

/** One stream of batches of an import job. */
export interface ImportSession {
  lastBatch: number;
  /** Reads the cells of a batch; needs no database. */
  prepare(batch: Batch): PreparedBatch;
  /**
   * Applies a batch, or returns `sealed` when the job accepts no more.
   * @param onSent called when the database has the rows, so that there is time for the next batch; perhaps never
   */
  apply(batch: Batch, prepared: PreparedBatch, onSent: () => void): Promise<BatchOutcome | 'sealed'>;
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
  onSent: () => void,
): Promise<BatchOutcome | 'sealed'> {
  let isApplied = false;
  const outcome = await applyOnce(transaction.connection, batchKeyOf(options, batch), () => {
    isApplied = true;
    return importer.write(transaction, batch, prepared, onSent);
  });
  if (!isApplied) importer.noteOtherSession();
  return outcome;
}

function eachBatchSession(
  database: BulkDatabase,
  options: ImportOptions,
  importer: BatchImporter,
  lastBatch: number,
): ImportSession {
  const { definition, caller } = options;
  return {
    lastBatch,
    prepare: (batch) => importer.prepare(batch),
    async apply(batch, prepared, onSent) {
      const outcome = await inBulkTransaction(database, caller.tenantId, (transaction) =>
        applyNext(transaction, options, importer, batch, prepared, onSent),
      );
      definition.afterCommit?.({ caller });
      return outcome;
    },
    end: async () => true,
    close: async () => {},
  };
}

async function singleTransactionSession(
  database: BulkDatabase,
  options: ImportOptions,
  importer: BatchImporter,
  lastBatch: number,
): Promise<ImportSession> {
  const { definition, caller } = options;
  const isDryRun = options.commit === 'NEVER';
  const { transaction, commit, close } = await openBulkTransaction(database, caller.tenantId);
  return {
    lastBatch: isDryRun ? 0 : lastBatch,
    prepare: (batch) => importer.prepare(batch),
    apply: (batch, prepared, onSent) =>
      isDryRun
        ? importer.write(transaction, batch, prepared, onSent)
        : applyNext(transaction, options, importer, batch, prepared, onSent),
    async end() {
      if (isDryRun) return false;
      await commit();
      definition.afterCommit?.({ caller });
      return true;
    },
    close,
  };
}
