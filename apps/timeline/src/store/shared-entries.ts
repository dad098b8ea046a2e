import { entityIdHead, HEAD_LENGTH } from '../domain/entity-id-head';
import type { Prisma } from '../generated/client';
import type { SystemLog } from './system-log-store';

/** For fewer entities an entry each is better than a row that all readers of theirs look through. */
const ENTITIES_MIN = 32;
/** So many begin alike only where others chose the ids, and are too many to look through. */
const ENTITIES_MAX = 1_024;
/** Readers of an entity look through the rows of all that begin like it, so there are never many. */
const ROWS_PER_HEAD_MAX = 16;

/**
 * Divides the entities of a log into those that can share rows and those that get an entry each: entities with
 * followers, who are notified of it, entities of which too few or too many ids begin alike, or whose beginning has
 * enough rows.
 */
export async function divideEntities(
  tx: Prisma.TransactionClient,
  tenantId: string,
  { entityType, entityIds }: SystemLog,
): Promise<{ sharing: readonly string[]; alone: readonly string[] }> {
  const groups = Map.groupBy(entityIds, entityIdHead);
  const heads = [...groups.keys()].filter((head) => {
    const { length } = groups.get(head)!;
    return length >= ENTITIES_MIN && length <= ENTITIES_MAX;
  });
  if (heads.length === 0) return { sharing: [], alone: entityIds };
  const open = await tx.$queryRaw<{ head: string; hasFollowers: boolean }[]>`
    SELECT head, head IS NOT DISTINCT FROM (SELECT left(entity_id, ${HEAD_LENGTH}::integer) FROM follower
      WHERE tenant_id = ${tenantId}::uuid AND entity_type = ${entityType} AND entity_id >= head
      ORDER BY entity_id LIMIT 1) AS "hasFollowers"
    FROM unnest(${heads}::text[]) AS head
    WHERE ${ROWS_PER_HEAD_MAX} > (SELECT count(*) FROM (SELECT FROM shared_entry
      WHERE tenant_id = ${tenantId}::uuid AND entity_type = ${entityType} AND entity_id_head = head
      LIMIT ${ROWS_PER_HEAD_MAX}) AS stored)`;
  const openHeads = new Set(open.map(({ head }) => head));
  const perhapsFollowed = open.filter(({ hasFollowers }) => hasFollowers);
  const followed = await findFollowed(
    tx,
    tenantId,
    entityType,
    perhapsFollowed.flatMap(({ head }) => groups.get(head)!),
  );
  const canShare = (entityId: string) => openHeads.has(entityIdHead(entityId)) && !followed.has(entityId);
  return {
    sharing: entityIds.filter((entityId) => canShare(entityId)),
    alone: entityIds.filter((entityId) => !canShare(entityId)),
  };
}

async function findFollowed(
  tx: Prisma.TransactionClient,
  tenantId: string,
  entityType: string,
  entityIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (entityIds.length === 0) return new Set();
  // For each entity by itself (OFFSET), not for all that anybody follows.
  const rows = await tx.$queryRaw<{ entityId: string }[]>`
    SELECT entity_id AS "entityId" FROM unnest(${entityIds}::text[]) AS wanted (entity_id)
    WHERE EXISTS (SELECT FROM follower
      WHERE tenant_id = ${tenantId}::uuid AND entity_type = ${entityType} AND entity_id = wanted.entity_id OFFSET 0)`;
  return new Set(rows.map(({ entityId }) => entityId));
}
