import { TimelineEntryType } from '@plinth/contracts/timeline/shapes';
import { newIds } from '@plinth/kernel/new-ids';
import { HEAD_LENGTH } from '../domain/entity-id-head';
import type { SystemMessage } from '../domain/entry';
import { defaultCulture, localizeMessage } from '../domain/system-text';
import { publishNotificationsDue } from '../events/published';
import type { Prisma } from '../generated/client';
import { divideEntities } from './shared-entries';

/** What the system writes in the timelines of entities of one type. */
export interface SystemLog {
  entityType: string;
  entityIds: readonly string[];
  message: SystemMessage;
}

/** Who caused it and when it happened, which may be long before its event is processed. */
interface Origin {
  actorId: string;
  actorName: string;
  at: Date;
}

/**
 * Inserts the system log of an event, in the transaction of its inbox. An event may be about thousands of entities,
 * which then share rows. Entities with followers get an entry of their own, and their followers are notified.
 */
export async function insertSystemLog(
  tx: Prisma.TransactionClient,
  tenantId: string,
  log: SystemLog,
  origin: Origin,
  { sharesEntries }: { sharesEntries: boolean },
): Promise<void> {
  const { sharing, alone } = sharesEntries
    ? await divideEntities(tx, tenantId, log)
    : { sharing: [], alone: log.entityIds };
  if (sharing.length > 0) await insertShared(tx, tenantId, { ...log, entityIds: sharing }, origin);
  if (alone.length > 0) await insertEntries(tx, tenantId, { ...log, entityIds: alone }, origin);
}

/** Inserts one row for all entities whose ids begin alike. Ids go as two texts: as lists each would be quoted by itself. */
async function insertShared(
  tx: Prisma.TransactionClient,
  tenantId: string,
  { entityType, entityIds, message }: SystemLog,
  { actorId, actorName, at }: Origin,
): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO shared_entry (tenant_id, entity_type, entity_id_head, id, entry_ids, entity_ids, body, message_key,
      message_values, author_id, author_display_name, created_at)
    SELECT ${tenantId}::uuid, ${entityType}, left(entity_id, ${HEAD_LENGTH}::integer), (array_agg(id))[1],
      array_agg(id), array_agg(entity_id),
      ${localizeMessage(message, defaultCulture)}, ${message.key}, ${JSON.stringify(message.values)}::jsonb,
      ${actorId}, ${actorName}, ${at}::timestamptz
    FROM unnest(string_to_array(${newIds(entityIds.length).join()}, ',')::uuid[],
      ARRAY (SELECT jsonb_array_elements_text(${JSON.stringify(entityIds)}::jsonb))) AS log (id, entity_id)
    GROUP BY 3`;
}

/** Inserts an entry for each entity by one statement, to which only the ids are sent one by one. */
async function insertEntries(
  tx: Prisma.TransactionClient,
  tenantId: string,
  { entityType, entityIds, message }: SystemLog,
  { actorId, actorName, at }: Origin,
): Promise<void> {
  const ids = newIds(entityIds.length);
  // Counters are locked in the order of their entities, so that two writers never wait for each other in a circle.
  const followed = await tx.$queryRaw<{ id: string; entityId: string }[]>`
    WITH log AS (
      SELECT * FROM unnest(${ids}::uuid[], ${entityIds}::text[]) AS log (id, entity_id)
    ), entry AS (
      INSERT INTO entry (tenant_id, id, entity_type, entity_id, entry_type, body, message_key, message_values,
        author_id, author_display_name, created_at)
      SELECT ${tenantId}::uuid, id, ${entityType}, entity_id, ${TimelineEntryType.SystemLog}::smallint,
        ${localizeMessage(message, defaultCulture)}, ${message.key}, ${JSON.stringify(message.values)}::jsonb,
        ${actorId}, ${actorName}, ${at}::timestamptz
      FROM log
    ), count AS (
      INSERT INTO entry_count (tenant_id, entity_type, entity_id, public_count, internal_count)
      SELECT ${tenantId}::uuid, ${entityType}, entity_id, count(*), 0 FROM log GROUP BY entity_id ORDER BY entity_id
      ON CONFLICT (tenant_id, entity_type, entity_id) DO UPDATE
      SET public_count = entry_count.public_count + excluded.public_count
    )
    -- For each entity by itself (OFFSET), not for all that anybody follows.
    SELECT id::text AS id, entity_id AS "entityId" FROM log WHERE EXISTS (SELECT FROM follower
      WHERE tenant_id = ${tenantId}::uuid AND entity_type = ${entityType} AND entity_id = log.entity_id OFFSET 0)`;
  await publishNotificationsDue(
    tx,
    tenantId,
    followed.map((entry) => ({ ...entry, entityType })),
  );
}
