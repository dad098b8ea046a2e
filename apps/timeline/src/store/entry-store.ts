import { TimelineEntryType } from '@plinth/contracts/timeline/shapes';
import { toAfter, toOrderBy } from '@plinth/http/prisma-list';
import type { ListRequest } from '@plinth/http/paging';
import type { RowQuota } from '@plinth/http/row-quota';
import type { Caller } from '@plinth/kernel/caller';
import type { Clock } from '@plinth/kernel/clock';
import { newId } from '@plinth/kernel/uuid';
import { readAtOneInstant } from '@plinth/runtime/postgres/at-one-instant';
import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { checkedForValues } from '@plinth/runtime/postgres/checked-for-values';
import { empty, raw, send, sql, type Sql } from '@plinth/runtime/postgres/raw-statements';
import { operationRecorded, runOnce, runUnlessRecorded } from '@plinth/runtime/postgres/run-once';
import { audienceOf, type Audience } from '../domain/audience';
import { entityIdHead } from '../domain/entity-id-head';
import {
  requireReplyAllowed,
  requireAttachable,
  requireRemovable,
  type Draft,
  type EntityName,
  type Entry,
  type SystemMessage,
} from '../domain/entry';
import { entryNotFound } from '../domain/problems';
import { publishEntryRemoved, writeEntryAdded } from '../events/published';
import type { Prisma } from '../generated/client';
import { attachableBlobIds } from './blob-record-store';
import type { EntryQuota } from './entry-quota';
import { addFollowers, isFollowedByOthers } from './follower-store';
import { lockStrangersNotifiedOf, removeCountsOfStrangers } from './notification-counts';
import { markUnused } from './unused-blobs';
import { visibleSql, visibleTo } from './visibility';

type Tx = Prisma.TransactionClient;

/** What a reader compares to know whether a stream has changed. */
export interface TimelineState {
  newestEntryId: string | null;
  totalCount: number;
}

export interface EntryStore {
  /** A page of a stream as this audience sees it, with the number of all its entries. */
  page(
    audience: Audience,
    entity: EntityName,
    list: ListRequest,
  ): Promise<{ rows: Entry[]; totalCount: number }>;
  /** How a stream is for this audience. */
  state(audience: Audience, entity: EntityName): Promise<TimelineState>;
  /** @throws Problem `entry-not-found`, also where this audience does not see the entry. */
  get(audience: Audience, entity: EntityName, id: string): Promise<Entry>;
  /**
   * Writes the entry of a person; a retry of the operation returns the entry of its first attempt.
   * @throws Problem `quota-exceeded`
   */
  write(draft: Draft, caller: Caller): Promise<Entry>;
  /** Removes an entry, its notifications and its attachments; a retry of the operation finds that it is done. */
  remove(entity: EntityName, id: string, caller: Caller): Promise<void>;
}

interface Parts {
  db: TenantDatabase<Tx>;
  clock: Clock;
  quota: EntryQuota;
  followerQuota: Pick<RowQuota, 'tryTake'>;
}

const withAttachments = { attachments: { orderBy: { position: 'asc' } } } as const;
type EntryRow = Prisma.EntryGetPayload<{ include: typeof withAttachments }>;

/** The condition on entries of an entity. */
const ofEntity = (tenantId: string, { entityType, entityId }: EntityName) => ({
  tenantId,
  entityType,
  entityId,
  entityIdHead: entityIdHead(entityId),
});

export function entryStore({ db, clock, quota, followerQuota }: Parts): EntryStore {
  /** An entry that its author has just written. */
  const getWritten = (tenantId: string, id: string): Promise<Entry> =>
    db.inTenant(tenantId, async (tx) => {
      await readAtOneInstant(tx);
      const row = await tx.entry.findUnique({
        where: { tenantId_id: { tenantId, id } },
        include: withAttachments,
      });
      if (!row) throw entryNotFound();
      return toEntry(row);
    });

  return {
    page: (audience, entity, list) =>
      db.inTenant(audience.tenantId, async (tx) => {
        await readAtOneInstant(tx);
        const rows = await tx.timelineEntry.findMany({
          where: { ...ofEntity(audience.tenantId, entity), ...visibleTo(audience), ...after(list) },
          include: withAttachments,
          orderBy: toOrderBy(list.sort),
          take: list.limit,
          skip: list.offset,
        });
        return { rows: rows.map(toEntry), totalCount: await count(tx, audience, entity) };
      }),

    state: (audience, entity) =>
      db.inTenant(audience.tenantId, async (tx) => {
        const visible = visibleSql(audience);
        // One statement, so that nothing is written between the two.
        const [state] = await tx.$queryRaw<[TimelineState]>`
          SELECT (SELECT id FROM timeline_entry
              WHERE tenant_id = ${audience.tenantId}::uuid AND entity_type = ${entity.entityType}
                AND entity_id = ${entity.entityId} AND entity_id_head = ${entityIdHead(entity.entityId)}
                ${visible ? raw(`AND ${visible}`) : empty}
              ORDER BY created_at DESC, id DESC LIMIT 1) AS "newestEntryId",
            ${countSql(audience, entity)} AS "totalCount"`;
        return state;
      }),

    get: (audience, entity, id) =>
      db.inTenant(audience.tenantId, async (tx) => {
        await readAtOneInstant(tx);
        const where = { ...ofEntity(audience.tenantId, entity), id, ...visibleTo(audience) };
        const row = await tx.timelineEntry.findFirst({ where, include: withAttachments });
        if (!row) throw entryNotFound();
        return toEntry(row);
      }),

    async write(draft, caller) {
      const { tenantId } = caller;
      const entry = toNewEntry(draft, caller, clock.now());
      const result = { id: entry.id };
      const recorded = operationRecorded(caller, result);
      const { id } = await runUnlessRecorded(db, caller, () =>
        db.inTenant(
          tenantId,
          async (tx) => {
            quota.take(tenantId, draft);
            await requireParentAndAttachments(tx, draft, caller);
            const others = draft.mentionedUserIds.filter((userId) => userId !== caller.userId);
            // Who is mentioned beyond the quota is notified and follows nothing; who follows already is counted too.
            const followers = followerQuota.tryTake(tenantId, others.length) ? others : [];
            const notifies = others.length > 0 ? sql`true` : isFollowedByOthers(tenantId, entry);
            await Promise.all([
              insert(tx, tenantId, entry, { recorded, notifies }),
              addFollowers(tx, tenantId, draft, followers, {
                internal: isInternal(entry),
                since: entry.createdAt,
              }),
            ]);
            return result;
          },
          'once',
        ),
      );
      return id === entry.id ? entry : getWritten(tenantId, id);
    },

    async remove(entity, id, caller) {
      const { tenantId } = caller;
      await db.inTenant(tenantId, (tx) =>
        runOnce(tx, caller, async () => {
          const where = { ...ofEntity(tenantId, entity), id, ...visibleTo(audienceOf(caller)) };
          const row = await tx.timelineEntry.findFirst({ where, include: withAttachments });
          if (!row) throw entryNotFound();
          const entry = toEntry(row);
          requireRemovable(entry, caller);
          const strangers = await lockStrangersNotifiedOf(tx, tenantId, id);
          const removed = await tx.entry.deleteMany({ where: { tenantId, id } });
          if (removed.count === 0) throw entryNotFound();
          // Files before the count, as who attaches them to another entry: nobody waits for each other in a circle.
          await markUnused(tx, tenantId, entry.attachmentBlobIds, clock.now());
          await countRemoved(tx, tenantId, entry);
          await removeCountsOfStrangers(tx, tenantId, strangers);
          await publishEntryRemoved(tx, tenantId, entry);
        }),
      );
    },
  };
}

const isInternal = ({ entryType }: Pick<Entry, 'entryType'>): boolean =>
  entryType === TimelineEntryType.InternalNote;

const after = ({ sort, after }: ListRequest): Prisma.TimelineEntryWhereInput =>
  after ? toAfter(sort, after, ['createdAt']) : {};

const toNewEntry = (draft: Draft, caller: Caller, createdAt: Date): Entry => ({
  id: newId(),
  entityType: draft.entityType,
  entityId: draft.entityId,
  entryType: draft.entryType,
  body: draft.body,
  message: null,
  authorId: caller.userId,
  authorDisplayName: caller.userName,
  parentEntryId: draft.parentEntryId,
  createdAt,
  attachmentBlobIds: draft.attachmentBlobIds,
});

/** Checks what needs the database: the parent entry and the attached files. */
async function requireParentAndAttachments(tx: Tx, draft: Draft, caller: Caller): Promise<void> {
  const audience = audienceOf(caller);
  const { tenantId } = caller;
  const { parentEntryId } = draft;
  if (parentEntryId !== null) {
    // It is removed before the reply or after it, so that also events say so.
    await send(
      tx,
      sql`
        SELECT FROM entry WHERE tenant_id = ${tenantId}::uuid
          AND id BETWEEN ${parentEntryId}::uuid AND ${parentEntryId}::uuid ORDER BY id FOR KEY SHARE`,
    );
    const parent = await tx.timelineEntry.findFirst({
      where: { ...ofEntity(tenantId, draft), id: parentEntryId, ...visibleTo(audience) },
    });
    requireReplyAllowed(draft, parent ? { entryType: parent.entryType as TimelineEntryType } : undefined);
  }
  if (draft.attachmentBlobIds.length > 0) {
    requireAttachable(draft, await attachableBlobIds(tx, audience, caller.userId, draft.attachmentBlobIds));
  }
}

/** How many entries of an entity this audience sees; the few that it shares with others are counted here. */
const countSql = (
  { tenantId, seesInternal }: Audience,
  { entityType, entityId }: EntityName,
): Sql => sql`COALESCE((SELECT public_count + CASE WHEN ${seesInternal} THEN internal_count ELSE 0 END FROM entry_count
    WHERE tenant_id = ${tenantId}::uuid AND entity_type = ${entityType} AND entity_id = ${entityId}), 0)
  + (SELECT count(*)::integer FROM timeline_entry WHERE is_shared AND tenant_id = ${tenantId}::uuid
    AND entity_type = ${entityType} AND entity_id = ${entityId} AND entity_id_head = ${entityIdHead(entityId)})`;

async function count(tx: Tx, audience: Audience, entity: EntityName): Promise<number> {
  const statement = sql`SELECT ${countSql(audience, entity)} AS entries`;
  const [counted] = await tx.$queryRaw<[{ entries: number }]>(statement);
  return counted.entries;
}

/**
 * Inserts the entry of a person, counts it and publishes it: statements by hand, that go out together.
 * @param recorded records the operation that wrote it
 * @param notifies whether people are to be notified of it
 */
async function insert(
  tx: Tx,
  tenantId: string,
  entry: Entry,
  { recorded, notifies }: { recorded: Sql | undefined; notifies: Sql },
): Promise<void> {
  const { attachmentBlobIds } = entry;
  const inserted = sql`
    INSERT INTO entry (tenant_id, id, entity_type, entity_id, entry_type, body, author_id, author_display_name,
      parent_entry_id, created_at)
    VALUES (${tenantId}::uuid, ${entry.id}::uuid, ${entry.entityType}, ${entry.entityId},
      ${entry.entryType}::smallint, ${entry.body}, ${entry.authorId}, ${entry.authorDisplayName},
      ${entry.parentEntryId}::uuid, ${entry.createdAt}::timestamptz)`;
  const changes = [inserted, counted(tenantId, entry), ...(recorded ? [recorded] : [])];
  await Promise.all([
    writeEntryAdded(tx, tenantId, entry, changes, notifies),
    attachmentBlobIds.length > 0 &&
      send(
        tx,
        sql`
        INSERT INTO attachment (tenant_id, entry_id, position, blob_id)
        SELECT ${tenantId}::uuid, ${entry.id}::uuid, position - 1, blob_id
        FROM unnest(${attachmentBlobIds}::uuid[]) WITH ORDINALITY AS attached (blob_id, position)
        WHERE ${checkedForValues}`,
      ),
  ]);
}

function counted(tenantId: string, entry: Entry): Sql {
  const internal = isInternal(entry) ? 1 : 0;
  return sql`
    INSERT INTO entry_count (tenant_id, entity_type, entity_id, public_count, internal_count)
    VALUES (${tenantId}::uuid, ${entry.entityType}, ${entry.entityId}, ${1 - internal}, ${internal})
    ON CONFLICT (tenant_id, entity_type, entity_id) DO UPDATE
    SET public_count = entry_count.public_count + excluded.public_count,
        internal_count = entry_count.internal_count + excluded.internal_count`;
}

/** Nothing is left of an entity without entries: anybody can make up the names of very many. */
async function countRemoved(tx: Tx, tenantId: string, entry: Entry): Promise<void> {
  const internal = isInternal(entry) ? 1 : 0;
  const ofEntity = sql`
    tenant_id = ${tenantId}::uuid AND entity_type = ${entry.entityType} AND entity_id = ${entry.entityId}`;
  await Promise.all([
    send(
      tx,
      sql`
        UPDATE entry_count SET public_count = public_count - ${1 - internal}, internal_count = internal_count - ${internal}
        WHERE ${ofEntity}`,
    ),
    send(tx, sql`DELETE FROM entry_count WHERE ${ofEntity} AND public_count = 0 AND internal_count = 0`),
  ]);
}

const toEntry = (row: EntryRow): Entry => ({
  id: row.id,
  entityType: row.entityType,
  entityId: row.entityId,
  entryType: row.entryType as TimelineEntryType,
  body: row.body,
  message: messageOf(row),
  authorId: row.authorId,
  authorDisplayName: row.authorDisplayName,
  parentEntryId: row.parentEntryId,
  createdAt: row.createdAt,
  attachmentBlobIds: row.attachments.map(({ blobId }) => blobId),
});

export const messageOf = ({
  messageKey,
  messageValues,
}: Pick<EntryRow, 'messageKey' | 'messageValues'>): SystemMessage | null =>
  messageKey === null ? null : { key: messageKey, values: (messageValues ?? {}) as SystemMessage['values'] };
