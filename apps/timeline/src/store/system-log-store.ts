import { TimelineEntryType } from '@plinth/contracts/timeline/shapes';
import { newId } from '@plinth/kernel/uuid';
import type { EntityName, SystemMessage } from '../domain/entry';
import { defaultCulture, localizeMessage } from '../domain/system-text';
import { publishEntriesAdded } from '../events/published';
import type { Prisma } from '../generated/client';

/** An entry that the system writes in the timeline of an entity. */
export interface SystemLog extends EntityName {
  message: SystemMessage;
}

/** Who caused it and when it happened, which may be long before its event is processed. */
interface Origin {
  actorId: string;
  actorName: string;
  at: Date;
}

/**
 * Inserts the system logs of one event, in the transaction of its inbox. An event may be about thousands of entities, so
 * the number of statements does not depend on theirs; only the entries of entities with followers are published.
 */
export async function insertSystemLogs(
  tx: Prisma.TransactionClient,
  tenantId: string,
  systemLogs: readonly SystemLog[],
  { actorId, actorName, at }: Origin,
): Promise<void> {
  const logs = systemLogs.map(({ message, ...entity }) => ({
    ...entity,
    id: newId(),
    body: localizeMessage(message, defaultCulture),
    key: message.key,
    values: message.values,
  }));
  // Counters are locked in the order of their entities, so that two writers never wait for each other in a circle.
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
    -- For each entity by itself (OFFSET), not for all that anybody follows.
    SELECT id::text AS id FROM log WHERE EXISTS (SELECT FROM follower WHERE tenant_id = ${tenantId}::uuid
      AND entity_type = "entityType" AND entity_id = "entityId" OFFSET 0)`;
  const withFollowers = new Set(followed.map(({ id }) => id));
  await publishEntriesAdded(
    tx,
    tenantId,
    logs
      .filter(({ id }) => withFollowers.has(id))
      .map((log) => ({ ...log, entryType: TimelineEntryType.SystemLog })),
  );
}
