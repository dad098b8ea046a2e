import type { ImportRow } from '../definition';
import type { ImportQuota, QuotaOfImport } from './batch-importer';

type Attempt = Parameters<ImportQuota['forImport']>[0];

/** A quota that counts units, whatever rows they are of. */
export interface UnitQuota {
  forImport(attempt: Attempt): {
    whenKnown(tenantId: string, units: number): Promise<void>;
    tryTake(tenantId: string, units: number): boolean;
    hasRoom(tenantId: string, units: number): boolean;
    giveBack(tenantId: string, units: number): void;
  };
}

/** A quota of what rows hold, such as bytes, beside that of their number. */
export interface SizeQuota {
  quota: UnitQuota;
  /** More than one batch brings, so that also the second one finds what is stored counted. */
  sizeOfBatches: number;
  sizeOf(row: ImportRow): number;
  /** What is given back of it where the row turned out not to be added; all of it without this. */
  unneededSizeOf?(row: ImportRow): number;
}

/** What an import asks whose rows need room in two quotas: of neither anything is taken where the other one has none. */
export function quotaOfBoth(
  attempt: Attempt,
  rowQuota: UnitQuota,
  { quota, sizeOfBatches, sizeOf, unneededSizeOf = () => Infinity }: SizeQuota,
): QuotaOfImport {
  const [ofRows, ofSize] = [rowQuota.forImport(attempt), quota.forImport(attempt)];
  /** A row may get another size after that, such as where a secret is sealed. */
  const takenSizes = new WeakMap<ImportRow, number>();
  return {
    async whenKnown(tenantId, count) {
      await ofRows.whenKnown(tenantId, count);
      await ofSize.whenKnown(tenantId, Math.max(count, sizeOfBatches));
    },
    tryTake(tenantId, count, rows) {
      let size = 0;
      for (const row of rows) {
        const ofRow = sizeOf(row);
        takenSizes.set(row, ofRow);
        size += ofRow;
      }
      return (
        ofRows.hasRoom(tenantId, count) &&
        (size === 0 || ofSize.tryTake(tenantId, size)) &&
        ofRows.tryTake(tenantId, count)
      );
    },
    giveBack(tenantId, count, rows) {
      ofRows.giveBack(tenantId, count);
      const unneeded = rows.map((row) => Math.min(takenSizes.get(row) ?? 0, unneededSizeOf(row)));
      ofSize.giveBack(
        tenantId,
        unneeded.reduce((sum, size) => sum + size, 0),
      );
    },
  };
}
