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
  /** Newest first; `before` is the position to go on below. The total is a counter of the entity, never counted. */
  page(
    key: EntityKey,
    part: { before: number | undefined; offset: number; limit: number },
  ): Promise<{ rows: HistoryRow[]; totalCount: number }>;
}

export const historyStore = (db: TenantDatabase<Prisma.TransactionClient>): HistoryStore => ({
  page: (key, { before, offset, limit }) =>
    db.inTenant(key.tenantId, async (tx) => {
      const entity = await tx.entity.findUnique({ where: { tenantId_entityType_entityId: key } });
      if (!entity) return { rows: [], totalCount: 0 };
      // Positions have no gaps, so that a page at any depth is a range of the key.
      const top = before === undefined ? entity.moves - offset : before - 1;
      const rows = await tx.move.findMany({
        where: { ...key, position: { lte: top, gt: top - limit } },
        orderBy: { position: 'desc' },
      });
      return { rows, totalCount: entity.moves };
    }),
});
