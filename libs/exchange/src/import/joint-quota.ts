import type { ImportRow, WrittenRow } from '../definition';
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

/** What rows need of one quota. */
export interface QuotaPart {
  quota: UnitQuota;
  /** More than one batch brings, so that also the second one finds what is stored counted; the number of rows without it. */
  unitsOfBatches?: number;
  /** One without it. */
  unitsOf?(row: ImportRow): number;
  /** What is given back of them where the row turned out not to be new; all without it. */
  unneededOf?(row: ImportRow): number;
}

/** What an import asks whose rows need room in several quotas: of none anything is taken where another one has none. */
export function jointQuota(attempt: Attempt, parts: readonly QuotaPart[]): QuotaOfImport {
  const joint = parts.map(
    ({ quota, unitsOf = () => 1, unneededOf = () => Infinity, unitsOfBatches = 0 }) => ({
      asked: quota.forImport(attempt),
      unitsOf,
      unneededOf,
      unitsOfBatches,
      /** A row may need another number after that, such as where a secret is sealed. */
      taken: new WeakMap<ImportRow, number>(),
    }),
  );
  return {
    async whenKnown(tenantId, count) {
      for (const { asked, unitsOfBatches } of joint)
        await asked.whenKnown(tenantId, Math.max(count, unitsOfBatches));
    },
    tryTake(tenantId, _count, rows) {
      const needed = joint.map(({ asked, unitsOf, taken }) => {
        const units = rows.map(unitsOf);
        rows.forEach((row, at) => taken.set(row, units[at]!));
        return { asked, units: sum(units) };
      });
      return (['hasRoom', 'tryTake'] as const).every((ask) =>
        needed.every(({ asked, units }) => units === 0 || asked[ask](tenantId, units)),
      );
    },
    giveBack(tenantId, _count, rows) {
      for (const { asked, taken, unneededOf } of joint)
        asked.giveBack(tenantId, sum(rows.map((row) => Math.min(taken.get(row) ?? 0, unneededOf(row)))));
    },
  };
}

/**
 * Whether a row that turned out not to be new was written all the same. One that its file names by an `Id` counts for one
 * also where it could not be written, until rows are counted again.
 */
export const isWritten = (row: ImportRow): boolean => ((row as Partial<WrittenRow>).id ?? null) !== null;

/** For quotas of a history, in which an update has its place too. */
export const unneededIfUnwritten = (row: ImportRow): number => (isWritten(row) ? 0 : Infinity);

const sum = (units: readonly number[]): number => units.reduce((total, one) => total + one, 0);
