import type { ImportRow, StoredRow, UndoneRows } from '@plinth/exchange/definition';
import type { ImportQuota } from '@plinth/exchange/import/batch-importer';
import { isWritten, jointQuota } from '@plinth/exchange/import/joint-quota';
import { bytesOfLongTexts, longTextBytes } from '@plinth/http/long-texts';
import { RowQuota } from '@plinth/http/row-quota';
import type { LocalizationConfig } from '../config';
import { importedOverride } from '../domain/imported-override';
import { BYTES_COLUMNS, longOverrideBytes } from './long-overrides';

/** How many texts of its own a tenant may have, and how many bytes the long ones among them. */
export interface TextQuota extends ImportQuota {
  /** Takes room for texts that are added, and for what long ones grow by. @throws Problem `quota-exceeded`, and then takes none */
  take(tenantId: string, added: number, grownBytes: number): void;
  /** Tells how many bytes a row of an import finds stored as a long text; those are given back where it is written. */
  noteStored(row: ImportRow, bytes: number): void;
  /** Takes the room that long texts have again which an undo brought back; nobody is refused that. */
  recordRestored(tenantId: string, restored: UndoneRows['restored']): void;
}

type Needs = Pick<ConstructorParameters<typeof RowQuota>[0], 'db' | 'log' | 'metrics'> & {
  config: Pick<
    LocalizationConfig,
    'LOCALIZATION_TENANT_OVERRIDES_MAX' | 'LOCALIZATION_TENANT_LONG_TEXT_BYTES_MAX'
  >;
};

/** More than one batch brings. */
const BYTES_OF_BATCHES = 8_000_000;

export function textQuota({ config, ...deps }: Needs): TextQuota {
  const table = 'override';
  const texts = new RowQuota({
    ...deps,
    table,
    quota: 'texts',
    what: 'texts of its own',
    limit: config.LOCALIZATION_TENANT_OVERRIDES_MAX,
  });
  const longTexts = new RowQuota({
    ...deps,
    table,
    ...bytesOfLongTexts(...BYTES_COLUMNS),
    quota: 'long-text-bytes',
    what: 'bytes in long texts of its own',
    limit: config.LOCALIZATION_TENANT_LONG_TEXT_BYTES_MAX,
    // About as much as one request brings.
    uncountedMin: 1_000_000,
  });
  const storedBytes = new WeakMap<ImportRow, number>();
  // Of a text that gets shorter the next count learns.
  const unneededBytesOf = (row: ImportRow): number =>
    isWritten(row) ? (storedBytes.get(row) ?? 0) : Infinity;

  return {
    take(tenantId, added, grownBytes) {
      if (added > 0) texts.requireRoom(tenantId, added);
      if (grownBytes > 0) longTexts.take(tenantId, grownBytes);
      if (added > 0) texts.take(tenantId, added);
    },
    forImport: (attempt) =>
      jointQuota(attempt, [
        { quota: texts },
        {
          quota: longTexts,
          unitsOfBatches: BYTES_OF_BATCHES,
          unitsOf: bytesOf,
          unneededOf: unneededBytesOf,
        },
      ]),
    noteStored: (row, bytes) => void storedBytes.set(row, bytes),
    recordRestored(tenantId, restored) {
      const grownBytes = restored.reduce(
        (sum, { undone, row }) => sum + bytesOfStored(row) - bytesOfStored(undone),
        0,
      );
      if (grownBytes > 0) longTexts.recordWritten(tenantId, grownBytes);
    },
  };
}

const bytesOf = (row: ImportRow): number => longOverrideBytes(importedOverride(row));

const bytesOfStored = (row: StoredRow): number =>
  longTextBytes('', ...BYTES_COLUMNS.map((column) => String(row[column])));
