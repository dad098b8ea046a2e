import { readAtOneInstant } from '@plinth/runtime/postgres/at-one-instant';
import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import type { Prisma } from '../generated/client';
import type { EntityKey } from '../domain/entity-snapshot';

export interface HistoryRow {
  position: number;
  previousState: string;
  newState: string;
  transitionedAt: Date;
  transitionedBy: string;
  comment: string | null;
}

export interface HistoryStore {
  /** By position; `after` is the one to go on behind. The total is a counter of the entity, never counted. */
  page(
    key: EntityKey,
    part: { isNewestFirst: boolean; after: number | undefined; offset: number; limit: number },
  ): Promise<{ rows: HistoryRow[]; totalCount: number }>;
}

export const historyStore = (db: TenantDatabase<Prisma.TransactionClient>): HistoryStore => ({
  page: (key, { isNewestFirst, after, offset, limit }) =>
    db.inTenant(key.tenantId, async (tx) => {
      await readAtOneInstant(tx);
      const entity = await tx.entity.findUnique({ where: { tenantId_entityType_entityId: key } });
      if (!entity) return { rows: [], totalCount: 0 };
      // Positions have no gaps, so that a page at any depth is a range of the key.
      const before = isNewestFirst ? (after ?? entity.moves + 1) - offset : (after ?? 0) + offset + limit + 1;
      const rows = await tx.move.findMany({
        where: { ...key, position: { lt: before, gte: before - limit } },
        orderBy: { position: isNewestFirst ? 'desc' : 'asc' },
      });
      return { rows, totalCount: entity.moves };
    }),
});
