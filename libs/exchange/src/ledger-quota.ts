import { Problem } from '@plinth/kernel/problem';
import { z } from 'zod';

/** What a service with data that is imported reads. */
export const ledgerEnvironment = {
  EXCHANGE_TENANT_LEDGER_BYTES_MAX: z.coerce
    .number()
    .int()
    .positive()
    .default(20 * 1024 ** 3)
    .describe(
      'Bytes of former rows and keys that the imports of a tenant may keep, until they can no longer be undone.',
    ),
};

/** How many bytes of import ledgers a tenant may have. */
export interface LedgerQuota {
  /** For an import, or a dry-run, which takes room from nobody else. All attempts at it are one. */
  forImport(attempt: { jobId: string; isDryRun: boolean }): LedgerQuotaOfImport;
}

/** What may be kept of one import. */
export interface LedgerQuotaOfImport {
  /** Waits for what a tenant has, where by what is known so many bytes could not be taken; outside of transactions. */
  whenKnown(tenantId: string, bytes: number): Promise<void>;
  /** Whether there is room for so many bytes, which it takes. @throws Problem `overloaded` where nobody knows how it is now */
  tryTake(tenantId: string, bytes: number): boolean;
}

/** What a quota of rows counts, for a `LedgerQuota` of the tables of a service. */
export const ledgerBytes = (config: { EXCHANGE_TENANT_LEDGER_BYTES_MAX: number }) => ({
  table: '(SELECT tenant_id, kept_bytes FROM exchange_batch WHERE kept_bytes > 0) AS kept',
  measure: 'sum(kept_bytes)',
  quota: 'import-ledger-bytes',
  what: 'bytes of former rows and keys of imports',
  limit: config.EXCHANGE_TENANT_LEDGER_BYTES_MAX,
});

/** About what a key takes, with its entry of the index. */
export const KEY_BYTES = 145;
/** About what a former row takes beside its values, with its entry of the index. */
export const FORMER_ROW_BYTES = 200;
/** What the id of a row takes that was written. */
export const ID_BYTES = 16;

/** What an import ends with: trying again does not help before earlier ones are deleted. */
export const noRoomInLedger = (): Problem =>
  new Problem(
    'too-large',
    'To undo this import, more would have to be kept of it than your tenant has room for; wait until what is kept of earlier imports is deleted, or import less.',
  );
