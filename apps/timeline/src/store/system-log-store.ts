import { entryAdded } from '@plinth/contracts/timeline/events';
import { TimelineEntryType } from '@plinth/contracts/timeline/shapes';
import { newId } from '@plinth/kernel/uuid';
import { appendToOutbox } from '@plinth/runtime/outbox';
import type { EntityName, SystemMessage } from '../domain/entry';
import { defaultCulture, say } from '../domain/system-text';
import type { Prisma } from '../generated/client';

/** What the system says in the timeline of an entity. */
export interface Observation extends EntityName {
  message: SystemMessage;
}

/** Who was behind it, and when it happened, which may be long before it was heard of. */
interface Occasion {
  actorId: string;
  actorName: string;
  at: Date;
}

/**
 * Writes what the system noticed, within the transaction that notes that it was noticed. A fact may concern thousands
 * of entities, so the number of statements does not depend on theirs; and told is only what somebody waits for.
 */
export async function observe(
  tx: Prisma.TransactionClient,
  tenantId: string,
  observations: readonly Observation[],
  { actorId, actorName, at }: Occasion,
): Promise<void> {
  const logs = observations.map(({ message, ...entity }) => ({
    ...entity,
    id: newId(),
    body: say(message, defaultCulture),
    key: message.key,
    values: message.values,
  }));
  // Counters are taken in the order of their entities, so that two writers never wait for each other in a circle.
  const followed = await tx.$queryRaw<{ id: string }[]>`
    WITH log AS (
      SELECT * FROM jsonb_to_recordset(${JSON.stringify(logs)}::jsonb) AS log (
        id uuid, "entityType" text, "entityId" text, body text, key text, values jsonb)
    ), entry AS (
      INSERT INTO entry (tenant_id, id, entity_type, entity_id, entry_type, body, message_key, message_values,
        author_id, author_display_name, created_at)
      SELECT ${tenantId}::uuid, id, "entityType", "entityId", ${TimelineEntryType.SystemLog}::smallint, body, key, values,
        ${actorId}, ${actorName}, ${at}
      FROM log
    ), count AS (
      INSERT INTO entry_count (tenant_id, entity_type, entity_id, public_count, internal_count)
      SELECT ${tenantId}::uuid, "entityType", "entityId", count(*), 0
      FROM log GROUP BY "entityType", "entityId" ORDER BY "entityType", "entityId"
      ON CONFLICT (tenant_id, entity_type, entity_id) DO UPDATE
      SET public_count = entry_count.public_count + excluded.public_count
    )
    SELECT id::text AS id FROM log WHERE EXISTS (SELECT FROM follower WHERE tenant_id = ${tenantId}::uuid
      AND entity_type = "entityType" AND entity_id = "entityId")`;
  const awaited = new Set(followed.map(({ id }) => id));
  await appendToOutbox(
    tx,
    ...logs
      .filter(({ id }) => awaited.has(id))
      .map(({ id, entityType, entityId }) => ({
        type: entryAdded,
        tenantId,
        subject: `${entityType}/${entityId}`,
        payload: { entryId: id, entityType, entityId, entryType: TimelineEntryType.SystemLog },
      })),
  );
}
