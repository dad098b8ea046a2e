import { TimelineEntryType } from '@plinth/contracts/timeline/shapes';
import { newIds } from '@plinth/kernel/new-ids';
import { HEAD_LENGTH } from '../domain/entity-id-head';
import type { SystemMessage } from '../domain/entry';
import { defaultCulture, localizeMessage } from '../domain/system-text';
import { publishNotificationsDue } from '../events/published';
import type { Prisma } from '../generated/client';
import { divideEntities } from './shared-entries';

/** So many entries are one statement. */
const ENTRIES_OF_STATEMENT = 5_000;

/** What the system writes in the timelines of entities of one type. */
export interface SystemLog {
  entityType: string;
  entityIds: readonly string[];
  message: SystemMessage;
}

/** The same with who caused it and when it happened, which may be long before its event is processed. */
export interface SystemLogOfEvent extends SystemLog {
  actorId: string;
  actorName: string;
  at: Date;
}

/**
 * Inserts the system logs of events, in the transaction of their inbox. An event may be about thousands of entities,
 * which then share rows. Entities with followers get an entry of their own, and their followers are notified. All such
 * entries are counted in one order, whichever log they are of: that of each log would be another one.
 */
export async function insertSystemLogs(
  tx: Prisma.TransactionClient,
  tenantId: string,
  logs: readonly SystemLogOfEvent[],
  { sharesEntries }: { sharesEntries: boolean },
): Promise<void> {
  const ofEntitiesAlone: SystemLogOfEvent[] = [];
  for (const log of logs) {
    const { sharing, alone } =
      sharesEntries && log.entityIds.length > 1
        ? await divideEntities(tx, tenantId, log)
        : { sharing: [], alone: log.entityIds };
    if (sharing.length > 0) await insertShared(tx, tenantId, { ...log, entityIds: sharing });
    if (alone.length > 0) ofEntitiesAlone.push({ ...log, entityIds: alone });
  }
  if (ofEntitiesAlone.length > 0) await insertEntries(tx, tenantId, ofEntitiesAlone);
}

/** Inserts one row for all entities whose ids begin alike. Ids go as two texts: as lists each would be quoted by itself. */
async function insertShared(
  tx: Prisma.TransactionClient,
  tenantId: string,
  { entityType, entityIds, message, actorId, actorName, at }: SystemLogOfEvent,
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

interface EntryNotified {
  id: string;
  entityType: string;
  entityId: string;
}

interface EntryOfLog {
  entityType: string;
  entityId: string;
  /** Of the log, from 1. */
  position: number;
}

/**
 * Inserts an entry for each entity, some thousands by one statement, which has a time that it may take. Counters are locked
 * in the order of their entities, so that two writers never wait for each other in a circle.
 */
async function insertEntries(
  tx: Prisma.TransactionClient,
  tenantId: string,
  logs: readonly SystemLogOfEvent[],
): Promise<void> {
  const entries = logs
    .flatMap(({ entityType, entityIds }, index) =>
      entityIds.map((entityId) => ({
        entityType,
        entityId,
        position: index + 1,
        // In the order of the collation `C`; that of code units puts what takes two of them before others.
        bytes: Buffer.from(`${entityType}\0${entityId}`),
      })),
    )
    .sort((a, b) => Buffer.compare(a.bytes, b.bytes));
  const followed: EntryNotified[] = [];
  for (let at = 0; at < entries.length; at += ENTRIES_OF_STATEMENT)
    followed.push(...(await insertSlice(tx, tenantId, logs, entries.slice(at, at + ENTRIES_OF_STATEMENT))));
  await publishNotificationsDue(tx, tenantId, followed);
}

/** What entities have in common is sent once for each log; returns the entries whose followers are to be notified. */
async function insertSlice(
  tx: Prisma.TransactionClient,
  tenantId: string,
  logs: readonly SystemLogOfEvent[],
  entries: readonly EntryOfLog[],
): Promise<EntryNotified[]> {
  return tx.$queryRaw<EntryNotified[]>`
    WITH log AS (
      SELECT id, entity_id, position, (${logs.map(({ entityType }) => entityType)}::text[])[position] AS entity_type
      FROM unnest(${newIds(entries.length)}::uuid[], ${entries.map(({ entityId }) => entityId)}::text[],
        ${entries.map(({ position }) => position)}::integer[]) AS log (id, entity_id, position)
    ), entry AS (
      INSERT INTO entry (tenant_id, id, entity_type, entity_id, entry_type, body, message_key, message_values,
        author_id, author_display_name, created_at)
      SELECT ${tenantId}::uuid, id, entity_type, entity_id, ${TimelineEntryType.SystemLog}::smallint,
        (${logs.map(({ message }) => localizeMessage(message, defaultCulture))}::text[])[position],
        (${logs.map(({ message }) => message.key)}::text[])[position],
        (${logs.map(({ message }) => JSON.stringify(message.values))}::text[])[position]::jsonb,
        (${logs.map(({ actorId }) => actorId)}::text[])[position],
        (${logs.map(({ actorName }) => actorName)}::text[])[position],
        (${logs.map(({ at }) => at)}::timestamptz[])[position]
      FROM log
    ), count AS (
      INSERT INTO entry_count (tenant_id, entity_type, entity_id, public_count, internal_count)
      SELECT ${tenantId}::uuid, entity_type, entity_id, count(*), 0 FROM log
      GROUP BY entity_type, entity_id ORDER BY entity_type COLLATE "C", entity_id COLLATE "C"
      ON CONFLICT (tenant_id, entity_type, entity_id) DO UPDATE
      SET public_count = entry_count.public_count + excluded.public_count
    )
    -- For each entity by itself (OFFSET), not for all that anybody follows.
    SELECT id::text AS id, entity_type AS "entityType", entity_id AS "entityId" FROM log
    WHERE EXISTS (SELECT FROM follower WHERE tenant_id = ${tenantId}::uuid AND entity_type = log.entity_type
      AND entity_id = log.entity_id OFFSET 0)`;
}
