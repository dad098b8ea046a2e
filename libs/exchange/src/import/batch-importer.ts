import type { Caller } from '@plinth/kernel/caller';
import type { Commit__Output } from '@plinth/proto/generated/plinth/exchange/v1/Commit';
import type { BulkTransaction } from '../bulk-transaction';
import {
  ID_PROPERTY,
  isUndoable,
  type BatchContext,
  type ExchangeDefinition,
  type ImportRow,
  type WrittenRow,
} from '../definition';
import { rowErrorOf, rowNumbersOf, withoutRowsOf, type RowError } from '../row-error';
import { rowMessage } from '../row-message';
import type { AppliedBatch, Batch, BatchOutcome } from './batch';
import { KEY_BYTES, noRoomInLedger, type LedgerQuotaOfImport } from '../ledger-quota';
import type { CellFormat } from './cell-format';
import { keyCompleter } from './complete-keys';
import {
  columnsWithKey,
  convertInSteps,
  hasKey,
  rowConverter,
  type Conversion,
  type ConvertedRow,
  type RawRow,
} from './convert-rows';
import {
  duplicateKeyError,
  findDuplicateKeys,
  findRepeatedIds,
  firstRowsByKey,
  preferDuplicateKeys,
  recordUnwrittenKeys,
  recordWrittenIds,
  separateKnownDuplicates,
  type KeyCheck,
} from './duplicate-keys';
import type { InTurns } from '../in-turns';
import { relationResolver } from './resolve-relations';
import type { UnwrittenKeys } from './unwritten-keys';
import { BatchWriter, type NewRows, type WritingHooks, type Written } from './write-batch';
import type { ImportMode } from './write-statements';

/** When the batches of an import are committed. */
export type CommitMode = Exclude<Commit__Output, 'READ_KEYS'>;

/** How many rows a tenant may have in the table of a definition, or in its history. */
export interface ImportQuota {
  /** For an import, or a dry-run, which takes room from nobody else. All attempts at it are one. */
  forImport(attempt: { jobId: string; isDryRun: boolean }): QuotaOfImport;
}

/** What one import may add. */
export interface QuotaOfImport {
  /** Waits, before a transaction, for a count where by what is known there is no room for so many rows at once. */
  whenKnown(tenantId: string, count: number): Promise<void>;
  /** Whether there is room for these rows, which it takes. @throws Problem `overloaded` where nobody knows how it is now */
  tryTake(tenantId: string, count: number, rows: readonly ImportRow[]): boolean;
  /** Gives back the room for rows that turned out to need none, unless the transaction fails, which gives back all that it took. */
  giveBack(tenantId: string, count: number, rows: readonly ImportRow[]): void;
}

/** What a stream of batches is, and how they are written. */
export interface ImportOptions {
  definition: ExchangeDefinition;
  jobId: string;
  columns: readonly string[];
  mode: ImportMode;
  commit: CommitMode;
  caller: Caller;
  format?: CellFormat;
  quota?: QuotaOfImport | undefined;
  ledgerQuota?: LedgerQuotaOfImport | undefined;
  /** The range of the file that the batches belong to; each range numbers its own batches. */
  range: number;
  /** Each batch lists which of its rows have a duplicate key. */
  knowsDuplicates: boolean;
  /** How steps of a batch are taken that others need not wait for. */
  inTurns: InTurns;
}

/** A batch whose cells were read, before the database is asked about its rows. */
export interface PreparedBatch {
  conversion: Conversion;
  /** Where the sender does not know which of its rows have a duplicate key, or not all of their keys. */
  firstByKey?: Map<string, number> | undefined;
  /** Its rows as they are inserted, where all of them may be new and nothing changes them before. */
  newRows?: NewRows | undefined;
}

/** Writes the batches of one session and decides which of their rows fail. */
export class BatchImporter {
  private readonly completeKeys: ReturnType<typeof keyCompleter>;
  private readonly convert: (rows: readonly RawRow[]) => Conversion;
  /** Neither a relation nor the definition replaces values before rows are written. */
  private readonly keepsValues: boolean;
  private readonly resolveRelations: ReturnType<typeof relationResolver>;
  private readonly writer: BatchWriter;
  /** Rows of the file may name the rows that they change by their ids. */
  private readonly hasIds: boolean;

  constructor(
    private readonly options: ImportOptions,
    /** Of rows of the job that were not written before. */
    private readonly unwrittenKeys: UnwrittenKeys,
  ) {
    const { definition, caller, commit, mode, format } = options;
    this.hasIds = options.columns.includes(ID_PROPERTY);
    this.completeKeys = keyCompleter(definition, options.columns);
    this.convert = rowConverter(definition, options.columns, format);
    const columns = columnsWithKey(definition, options.columns);
    this.resolveRelations = relationResolver(definition, columns);
    this.keepsValues =
      definition.check === undefined && !columns.some((property) => definition.fields[property]?.relation);
    this.writer = new BatchWriter(definition, columns, {
      mode,
      caller,
      canBeUndone: commit !== 'NEVER' && isUndoable(definition),
      inTurns: options.inTurns,
    });
  }

  /** Another session of the job, which only seemed dead, wrote a batch: its keys are not known here. */
  noteOtherSession(): void {
    this.unwrittenKeys.forget();
  }

  /** Does all that needs no database, so that the database does not wait for it. */
  async prepare({ rows }: Batch): Promise<PreparedBatch> {
    const conversion = await this.options.inTurns(convertInSteps(this.convert, rows));
    return {
      conversion,
      firstByKey: this.options.knowsDuplicates ? undefined : firstRowsByKey(conversion),
      newRows: this.keepsValues ? await this.writer.prepare(conversion.rows) : undefined,
    };
  }

  /** @throws Problem `too-large` where there is no room for what is kept of the rows */
  async write(
    transaction: BulkTransaction,
    batch: Batch,
    prepared: PreparedBatch,
    hooks: Pick<WritingHooks, 'onSent' | 'beforeLookUps'>,
  ): Promise<AppliedBatch> {
    const context = this.contextIn(transaction);
    const { outcome, unwritten, keptBytes } = await this.writeRows(context, batch, prepared, hooks);
    this.takeRoom(keptBytes);
    return { outcome, keptBytes: keptBytes + (await this.recordUnwritten(unwritten, context)) };
  }

  /**
   * Finds out what `write` would do, and undoes it at once: whoever wants a row that it changed waits for one batch, not
   * for all of a dry-run. What later batches would find in the table is kept beside, where nobody else looks.
   */
  async tryOut(
    transaction: BulkTransaction,
    batch: Batch,
    prepared: PreparedBatch,
    hooks: Pick<WritingHooks, 'onSent'>,
  ): Promise<BatchOutcome> {
    const { connection } = transaction;
    const { rows, invalidRows } = prepared.conversion;
    const context = this.contextIn(transaction);
    await connection.query('SAVEPOINT batch');
    const { outcome, updated } = await this.writeRows(context, batch, prepared, hooks).finally(() =>
      connection.query('ROLLBACK TO SAVEPOINT batch; RELEASE SAVEPOINT batch'),
    );
    await this.recordUnwritten([...invalidRows, ...rows], context);
    if (!this.hasIds || updated.length === 0) return outcome;
    this.takeRoom(updated.length * KEY_BYTES);
    await recordWrittenIds(context, updated, this.keysBefore);
    return outcome;
  }

  private get keysBefore() {
    return { unwrittenKeys: this.unwrittenKeys, inTurns: this.options.inTurns };
  }

  private contextIn(transaction: BulkTransaction): BatchContext {
    const { caller, jobId } = this.options;
    return { ...transaction, caller, jobId };
  }

  /** Writes what can be written; returns also the rows that were not, as far as they have a key. */
  private async writeRows(
    context: BatchContext,
    batch: Batch,
    prepared: PreparedBatch,
    { onSent, beforeLookUps }: Pick<WritingHooks, 'onSent' | 'beforeLookUps'>,
  ): Promise<AppliedBatch & { unwritten: ConvertedRow[]; updated: readonly WrittenRow[] }> {
    const { definition, commit } = this.options;
    const { conversion } = prepared;
    const keyed = await this.withKeysOfTable(prepared, context, beforeLookUps);
    const { unique, repeated } = await this.checkKeys(batch, keyed, context, beforeLookUps);
    const resolved = await this.resolveRelations(unique, conversion.invalidRows, context);
    const { refused, written } = await this.inRoomFor(resolved.rows, async (outOfRoom) => {
      const refused = outOfRoom ?? (await definition.check?.(resolved.rows, context)) ?? [];
      const written = await this.writer.write(withoutRowsOf(refused, resolved.rows), context, {
        afterWrite: async (changed) => {
          if (commit !== 'NEVER') await definition.afterWrite?.(changed, context);
        },
        onSent,
        beforeLookUps,
        prepared: prepared.newRows,
      });
      return { refused, written };
    });
    const errors = [
      ...conversion.errors,
      ...repeated.map(({ row, first }) => duplicateKeyError(definition, row, first)),
      ...(await this.preferDuplicateKeys(
        [...resolved.errors, ...refused, ...written.errors],
        unique,
        context,
        beforeLookUps,
      )),
    ];
    const failedRows = rowNumbersOf(errors);
    const unwritten = [
      ...conversion.invalidRows,
      ...unique.filter(({ rowNumber }) => failedRows.has(rowNumber)),
      ...written.skipped,
    ];
    const outcome = {
      inserted: written.inserted.length,
      updated: written.updated.length,
      skipped: written.skipped.length,
      failed: failedRows.size,
      errors,
    };
    return { outcome, keptBytes: written.keptBytes, unwritten, updated: written.updated };
  }

  /**
   * Writes rows for which there is room, or says that there is none. Which of them are new is not known before: the room
   * of those that are not is given back as soon as that is known; where the transaction fails, all of it is.
   */
  private async inRoomFor<Result extends { written: Written }>(
    rows: readonly ImportRow[],
    write: (outOfRoom: readonly RowError[] | undefined) => Promise<Result>,
  ): Promise<Result> {
    const { quota, caller } = this.options;
    const { tenantId } = caller;
    if (quota && !quota.tryTake(tenantId, rows.length, rows))
      return write(
        rows.map((row) => rowErrorOf(row, 'Validation', 'QuotaExceeded', rowMessage('quotaExceeded'))),
      );
    let inserted: readonly WrittenRow[] = [];
    try {
      const result = await write(undefined);
      ({ inserted } = result.written);
      return result;
    } finally {
      if (quota && inserted.length < rows.length) {
        const needed = new Set(inserted.map(({ rowNumber }) => rowNumber));
        const others = rows.filter(({ rowNumber }) => !needed.has(rowNumber));
        quota.giveBack(tenantId, others.length, others);
      }
    }
  }

  private async withKeysOfTable(
    prepared: PreparedBatch,
    context: BatchContext,
    beforeLookUps: WritingHooks['beforeLookUps'],
  ): Promise<PreparedBatch> {
    if (!this.completeKeys) return prepared;
    const { conversion } = prepared;
    await beforeLookUps?.();
    await this.completeKeys([...conversion.rows, ...conversion.invalidRows], context);
    return { ...prepared, firstByKey: firstRowsByKey(conversion) };
  }

  private async checkKeys(
    { duplicates }: Batch,
    { conversion, firstByKey }: PreparedBatch,
    context: BatchContext,
    beforeLookUps: WritingHooks['beforeLookUps'],
  ): Promise<KeyCheck> {
    const { writer, options } = this;
    if (!firstByKey || options.knowsDuplicates)
      return separateKnownDuplicates(conversion, duplicates, firstByKey);
    const check = await findDuplicateKeys(conversion, firstByKey, context, {
      ...this.keysBefore,
      writer,
      beforeLookUps,
    });
    return options.commit === 'NEVER' && this.hasIds
      ? findRepeatedIds(check, context, this.keysBefore)
      : check;
  }

  /** Where the sender does not know the duplicates of a file, only the table knows those of earlier batches. */
  private async preferDuplicateKeys(
    errors: readonly RowError[],
    rows: readonly ConvertedRow[],
    context: BatchContext,
    beforeLookUps: WritingHooks['beforeLookUps'],
  ): Promise<readonly RowError[]> {
    const { definition, knowsDuplicates } = this.options;
    if (knowsDuplicates || errors.length === 0) return errors;
    await beforeLookUps?.();
    return preferDuplicateKeys(errors, rows, definition, context, this.writer);
  }

  /** Returns about how many bytes their keys take. */
  private async recordUnwritten(rows: readonly ConvertedRow[], context: BatchContext): Promise<number> {
    const keyed = rows.filter(hasKey);
    if (keyed.length === 0 || this.options.knowsDuplicates) return 0;
    const bytes = keyed.length * KEY_BYTES;
    this.takeRoom(bytes);
    await recordUnwrittenKeys(context, keyed, this.keysBefore);
    return bytes;
  }

  /** A transaction that fails gives it back. */
  private takeRoom(bytes: number): void {
    const { ledgerQuota, caller } = this.options;
    if (bytes > 0 && ledgerQuota && !ledgerQuota.tryTake(caller.tenantId, bytes)) throw noRoomInLedger();
  }
}
