import { NotificationKind, TimelineEntryType } from '@plinth/contracts/timeline/shapes';
import { toAfter, toOrderBy } from '@plinth/http/prisma-list';
import type { ListRequest } from '@plinth/http/paging';
import type { RowQuota } from '@plinth/http/row-quota';
import { holds, type Caller } from '@plinth/kernel/caller';
import type { Clock } from '@plinth/kernel/clock';
import { Problem } from '@plinth/kernel/problem';
import { headOf } from '@plinth/kernel/text';
import { newId } from '@plinth/kernel/uuid';
import { readAtOneInstant } from '@plinth/runtime/postgres/at-one-instant';
import { checkedForValues } from '@plinth/runtime/postgres/checked-for-values';
import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { raw, send, sql } from '@plinth/runtime/postgres/raw-statements';
import { readByIndexes } from '@plinth/runtime/postgres/read-by-indexes';
import { runOnce } from '@plinth/runtime/postgres/run-once';
import { audienceOf } from '../domain/audience';
import type { Entry } from '../domain/entry';
import { EXCERPT_SOURCE_LENGTH } from '../domain/excerpt';
import { findMentions, mentionedUserIds } from '../domain/mention';
import type { Prisma } from '../generated/client';
import { messageOf } from './entry-store';
import { visibleTo } from './visibility';

type Tx = Prisma.TransactionClient;

/** A notification with the entry that it is about. */
export interface StoredNotification {
  id: string;
  sequence: bigint;
  kind: NotificationKind;
  createdAt: Date;
  readAt: Date | null;
  /** Of the body only as much as an excerpt needs. */
  entry: EntryOfNotification;
}

type EntryOfNotification = Pick<
  Entry,
  'id' | 'entityType' | 'entityId' | 'entryType' | 'authorId' | 'authorDisplayName' | 'body' | 'message'
>;

export interface NotificationStore {
  list(
    caller: Caller,
    list: ListRequest,
  ): Promise<{ rows: StoredNotification[]; totalCount: number | null; unreadCount: number }>;
  unreadCount(caller: Caller): Promise<number>;
  /** Returns false when this person has no such notification. */
  markRead(caller: Caller, id: string): Promise<boolean>;
  /** Marks all as read, once per operation: a retry leaves alone what came since. */
  markAllRead(caller: Caller): Promise<void>;
  /** Where this person's stream begins: after the notification of this id, or after the newest one. */
  positionOf(caller: Caller, lastId: string | undefined): Promise<bigint>;
  /** The notifications of this person after a position, oldest first. */
  since(caller: Caller, position: bigint, limit: number): Promise<StoredNotification[]>;
}

export function notificationStore({
  db,
  clock,
}: {
  db: TenantDatabase<Tx>;
  clock: Clock;
}): NotificationStore {
  return {
    list: (caller, list) =>
      db.inTenant(caller.tenantId, async (tx) => {
        const onlyUnread = list.quickFilters.includes('unread');
        const selection = { ...ownAndVisible(caller), ...(onlyUnread ? { readAt: null } : {}) };
        // Where an entry is removed in between, the page would be one short and seem to be the last one.
        await readAtOneInstant(tx);
        await readByIndexes(tx, 'for-values');
        const rows = await tx.notification.findMany({
          where: { ...selection, ...(list.after ? toAfter(list.sort, list.after, ['createdAt']) : {}) },
          orderBy: toOrderBy(list.sort),
          take: list.limit,
          skip: list.offset,
        });
        return {
          rows: await withEntries(tx, caller.tenantId, rows),
          totalCount: list.wantsTotalCount ? await count(tx, selection) : null,
          unreadCount: await countUnread(tx, caller),
        };
      }),

    unreadCount: (caller) =>
      db.inTenant(caller.tenantId, async (tx) => {
        await readByIndexes(tx, 'for-values');
        return countUnread(tx, caller);
      }),

    markRead: (caller, id) =>
      db.inTenant(caller.tenantId, async (tx) => {
        const { tenantId } = caller;
        const found = await findOwn(tx, caller, id, visibleNow(caller));
        if (found && !found.readAt)
          await tx.notification.updateMany({ where: { tenantId, id }, data: { readAt: clock.now() } });
        return found !== undefined;
      }),

    async markAllRead(caller) {
      const where = { ...ownAndVisible(caller), readAt: null };
      await db.inTenant(caller.tenantId, (tx) =>
        runOnce(tx, caller, async () => {
          await tx.notification.updateMany({ where, data: { readAt: clock.now() } });
        }),
      );
    },

    positionOf: (caller, lastId) =>
      db.inTenant(caller.tenantId, async (tx) => {
        const { tenantId, userId } = caller;
        const last = lastId && (await findOwn(tx, caller, lastId));
        if (last) return last.sequence;
        // It was removed with its entry; its id still holds when it was made. Some are sent again then, and none is missed.
        const before = lastId ? { createdAt: { lte: new Date(timeOf(lastId) - DISORDER_MILLISECONDS) } } : {};
        // The largest one by its index: Prisma's `_max` reads all of this person's notifications.
        const newest = await tx.notification.findFirst({
          where: { tenantId, userId, ...before },
          select: { sequence: true },
          orderBy: { sequence: 'desc' },
        });
        return newest?.sequence ?? 0n;
      }),

    since: (caller, position, limit) =>
      db.inTenant(caller.tenantId, async (tx) => {
        // Where an entry is removed in between, the batch would be one short and seem to be the last one.
        await readAtOneInstant(tx);
        const rows = await tx.notification.findMany({
          where: { ...ownAndVisible(caller), sequence: { gt: position } },
          orderBy: { sequence: 'asc' },
          take: limit,
        });
        return withEntries(tx, caller.tenantId, rows);
      }),
  };
}

const countUnread = (tx: Tx, caller: Caller): Promise<number> =>
  count(tx, { ...ownAndVisible(caller), readAt: null });

/** Goes on no further than where a person can have no more, in an order that Prisma would choose to be that of the key. */
const count = (tx: Tx, where: Prisma.NotificationWhereInput): Promise<number> =>
  tx.notification.count({
    where,
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    take: NOTIFICATIONS_KEPT + REMOVED_TOGETHER,
  });

/** Those about entries that this person may read now. */
const visibleNow = (caller: Caller) => ({
  ...visibleTo(audienceOf(caller)),
  ...(holds(caller, 'Timeline.Entries.Read') ? {} : { entryId: { in: [] } }),
});

/** The notifications of this person about entries that they may read now. */
const ownAndVisible = (caller: Caller) => ({
  tenantId: caller.tenantId,
  userId: caller.userId,
  ...visibleNow(caller),
});

/** By its key alone: with the person it might be looked for among all of theirs (ADR 0022). */
async function findOwn(tx: Tx, { tenantId, userId }: Caller, id: string, where = {}) {
  const found = await tx.notification.findUnique({ where: { tenantId_id: { tenantId, id }, ...where } });
  return found?.userId === userId ? found : undefined;
}

/**
 * Notifications of one person are numbered in the order in which their transactions end. By so much the times of two of them
 * may be in the other order: while one waited for the other, and by clocks of replicas that differ.
 */
const DISORDER_MILLISECONDS = 15_000;

/** The instant in a UUID version 7, in milliseconds. */
const timeOf = (id: string): number => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);

/** What decides whom an entry notifies. */
interface NotifiedEntry {
  type: TimelineEntryType;
  body: string;
  internal: boolean;
  authorId: string;
  followers: Follower[];
}

interface Follower {
  userId: string;
  internal: boolean;
  /** May be somebody who does not exist, unless the directory knows them. */
  byMention: boolean;
}

interface Recipient extends Follower {
  kind: NotificationKind;
}

/** Of one user; what is older is removed with one notification of `REMOVED_TOGETHER`. */
const NOTIFICATIONS_KEPT = 5_000;
const REMOVED_TOGETHER = 50;
/** To notify so many costs about as much as to write the entry; more are notified in parts, and tenants take turns. */
const FOLLOWERS_AT_ONCE_MAX = 20;
const FOLLOWERS_OF_PART = 500;

/** What a new entry, or a part of its followers, leads to. */
interface Notifying {
  entryId: string;
  /** Without its author. */
  recipients: Recipient[];
  /** Each has their oldest notification removed for it. */
  replacesOldest: boolean;
}

/**
 * Notifies the people whom new entries mention and the followers of their entities, each once of an entry and not its
 * author. Where an entity has many followers, its entry becomes due instead, and they are notified in parts. People who may
 * not see an entry get a notification that they may not see either. Returns who was notified.
 */
export async function createNotifications(
  tx: Tx,
  tenantId: string,
  entryIds: readonly string[],
  at: Date,
  quota: Pick<RowQuota, 'tryTake'>,
): Promise<{ userIds: string[]; isDue: boolean }> {
  const notifying: Notifying[] = [];
  let isAnyDue = false;
  for (const entryId of entryIds) {
    const entry = await readNotified(tx, tenantId, entryId, { limit: FOLLOWERS_AT_ONCE_MAX + 1 });
    if (!entry) continue;
    // What the system notes repeats what people wrote elsewhere, and nobody counted the mentions in that.
    const mentioned =
      entry.type === TimelineEntryType.SystemLog ? [] : mentionedUserIds(findMentions(entry.body));
    const isDue = entry.followers.length > FOLLOWERS_AT_ONCE_MAX;
    if (isDue)
      await tx.$executeRaw`
        INSERT INTO due_entry (tenant_id, entry_id) VALUES (${tenantId}::uuid, ${entryId}::uuid) ON CONFLICT DO NOTHING`;
    isAnyDue ||= isDue;
    const recipients: Recipient[] = [
      ...mentioned.map((userId) => ({
        userId,
        kind: NotificationKind.Mention,
        internal: entry.internal,
        byMention: true,
      })),
      ...(isDue ? [] : toRecipients(entry).filter(({ userId }) => !mentioned.includes(userId))),
    ];
    notifying.push(await admit(tx, tenantId, { entryId, authorId: entry.authorId }, recipients, quota));
  }
  await lockCounts(tx, tenantId, notifying);
  const notified: string[][] = [];
  for (const one of notifying) notified.push(await notify(tx, tenantId, one, at));
  return { userIds: [...new Set(notified.flat())], isDue: isAnyDue };
}

/** An entry whose followers are notified in parts, and the last one who was. */
export interface DueEntry {
  tenantId: string;
  entryId: string;
  lastUserId: string;
}

/**
 * Notifies the next followers of an entry. Returns who was notified, and who comes last of those whose turn it was;
 * undefined where there are no more.
 */
export async function notifyNextFollowers(
  tx: Tx,
  { tenantId, entryId, lastUserId }: DueEntry,
  at: Date,
  quota: Pick<RowQuota, 'tryTake'>,
): Promise<{ userIds: string[]; lastUserId: string | undefined }> {
  const part = { after: lastUserId, isPart: true, limit: FOLLOWERS_OF_PART };
  const entry = await readNotified(tx, tenantId, entryId, part);
  if (!entry) return { userIds: [], lastUserId: undefined };
  const { followers, authorId } = entry;
  const admitted = await admit(tx, tenantId, { entryId, authorId }, toRecipients(entry), quota);
  const userIds = await notify(tx, tenantId, admitted, at);
  const isLastPart = followers.length < FOLLOWERS_OF_PART;
  return { userIds, lastUserId: isLastPart ? undefined : followers.at(-1)!.userId };
}

/**
 * An entry with some of its followers, in the order of their ids. Later followers are not notified of earlier entries.
 * A part has those only whom more than a mention made follow, or whom the directory knows: anybody can mention thousands
 * of people who do not exist. The entry is asked for in the order of its key (ADR 0022), and nobody deletes it before they are notified.
 */
async function readNotified(
  tx: Tx,
  tenantId: string,
  entryId: string,
  { after = '', isPart = false, limit }: { after?: string; isPart?: boolean; limit: number },
): Promise<NotifiedEntry | undefined> {
  const [entry] = await tx.$queryRaw<NotifiedEntry[]>`
    SELECT entry_type AS type, body, internal, author_id AS "authorId", COALESCE((
      SELECT jsonb_agg(jsonb_build_object('userId', user_id, 'internal', internal, 'byMention', by_mention) ORDER BY user_id)
      FROM (
        SELECT user_id, internal, by_mention FROM follower
        WHERE follower.tenant_id = entry.tenant_id AND follower.entity_type = entry.entity_type
          AND follower.entity_id = entry.entity_id AND follower.since <= entry.created_at
          AND follower.user_id > ${after}
          AND (NOT ${isPart}::boolean OR NOT by_mention OR EXISTS (SELECT FROM person
            WHERE person.tenant_id = follower.tenant_id AND person.user_id = follower.user_id OFFSET 0))
        ORDER BY user_id LIMIT ${limit}::integer) AS follower), '[]') AS followers
    FROM entry WHERE tenant_id = ${tenantId}::uuid AND id BETWEEN ${entryId}::uuid AND ${entryId}::uuid
    ORDER BY id FOR KEY SHARE OF entry`;
  return entry;
}

const toRecipients = ({ followers, internal }: NotifiedEntry): Recipient[] =>
  followers.map((follower) => ({
    ...follower,
    kind: NotificationKind.Entry,
    internal: internal || follower.internal,
  }));

/**
 * Who is notified: beyond the quota those who exist, each in exchange for their oldest notification. Otherwise somebody could end the notifications of all by mentioning very many people who do not exist.
 */
async function admit(
  tx: Tx,
  tenantId: string,
  { entryId, authorId }: { entryId: string; authorId: string },
  people: readonly Recipient[],
  quota: Pick<RowQuota, 'tryTake'>,
): Promise<Notifying> {
  const recipients = people.filter(({ userId }) => userId !== authorId);
  if (recipients.length === 0 || hasRoom(quota, tenantId, recipients.length))
    return { entryId, recipients, replacesOldest: false };
  const known = await tx.$queryRaw<{ userId: string }[]>`
    SELECT user_id AS "userId" FROM person
    WHERE tenant_id = ${tenantId}::uuid AND user_id = ANY(${recipients.map(({ userId }) => userId)}::text[])`;
  const userIds = new Set(known.map(({ userId }) => userId));
  const existing = recipients.filter(({ userId, byMention }) => !byMention || userIds.has(userId));
  return { entryId, recipients: existing, replacesOldest: true };
}

/**
 * Where nobody knows whether there is room, there is none: an event that waited until that is known would become a dead
 * letter.
 */
function hasRoom(quota: Pick<RowQuota, 'tryTake'>, tenantId: string, notifications: number): boolean {
  try {
    return quota.tryTake(tenantId, notifications);
  } catch (error) {
    if (error instanceof Problem && error.kind === 'overloaded') return false;
    throw error;
  }
}

/**
 * Locks the counters of all whom several entries notify. One entry locks those of its own in their order; after another
 * one, they would not be in the order of all, and two writers would wait for each other in a circle.
 */
async function lockCounts(tx: Tx, tenantId: string, notifying: readonly Notifying[]): Promise<void> {
  if (notifying.length < 2) return;
  const userIds = new Set(notifying.flatMap(({ recipients }) => recipients.map(({ userId }) => userId)));
  if (userIds.size === 0) return;
  await send(
    tx,
    sql`
      INSERT INTO notification_count AS count (tenant_id, user_id, last_sequence)
      SELECT ${tenantId}::uuid, user_id, ${FIRST_SEQUENCE} FROM unnest(${[...userIds]}::text[]) AS counted (user_id)
      ORDER BY user_id
      ON CONFLICT (tenant_id, user_id) DO UPDATE SET last_sequence = count.last_sequence WHERE false`,
  );
}

/** Returns who was not notified of the entry before. */
async function notify(
  tx: Tx,
  tenantId: string,
  { entryId, recipients, replacesOldest }: Notifying,
  at: Date,
): Promise<string[]> {
  if (recipients.length === 0) return [];
  const notified = await insertNotifications(tx, tenantId, entryId, recipients, at);
  if (replacesOldest) await removeOldestNotifications(tx, tenantId, notified);
  await removeOldNotifications(tx, tenantId, notified);
  return notified.map(({ userId }) => userId);
}

interface Notified {
  userId: string;
  sequence: bigint;
}

/**
 * A new counter begins at the time, in fiftieths of a millisecond: one of the same person that was removed was below it, and
 * an open stream waits for what is above that.
 */
const FIRST_SEQUENCE = raw('(extract(epoch FROM clock_timestamp()) * 1000)::bigint * 50 + 1');

async function insertNotifications(
  tx: Tx,
  tenantId: string,
  entryId: string,
  recipients: readonly Recipient[],
  at: Date,
): Promise<Notified[]> {
  // Counters are locked in the order of the user ids, so that two writers never wait for each other in a circle.
  return tx.$queryRaw<Notified[]>(sql`
    WITH recipient AS (
      SELECT * FROM unnest(
        ${recipients.map(({ userId }) => userId)}::text[], ${recipients.map(() => newId())}::uuid[],
        ${recipients.map(({ kind }) => kind)}::text[], ${recipients.map(({ internal }) => internal)}::boolean[]
      ) AS recipient (user_id, id, kind, internal)
      WHERE NOT EXISTS (SELECT FROM notification AS earlier WHERE earlier.tenant_id = ${tenantId}::uuid
        AND earlier.entry_id = ${entryId}::uuid AND earlier.user_id = recipient.user_id)
    ), numbered AS (
      INSERT INTO notification_count AS count (tenant_id, user_id, last_sequence)
      SELECT ${tenantId}::uuid, user_id, ${FIRST_SEQUENCE} FROM recipient ORDER BY user_id
      ON CONFLICT (tenant_id, user_id) DO UPDATE SET last_sequence = count.last_sequence + 1
      RETURNING user_id, last_sequence
    )
    INSERT INTO notification (tenant_id, id, user_id, sequence, kind, internal, entry_id, created_at)
    SELECT ${tenantId}::uuid, id, user_id, last_sequence, kind, internal, ${entryId}::uuid, ${at}
    FROM recipient JOIN numbered USING (user_id) WHERE ${checkedForValues}
    ON CONFLICT (tenant_id, entry_id, user_id) DO NOTHING
    RETURNING user_id AS "userId", sequence`);
}

/** Removes one notification of each of these users, the oldest, where they have another one than they just got. */
async function removeOldestNotifications(
  tx: Tx,
  tenantId: string,
  notified: readonly Notified[],
): Promise<void> {
  await tx.$executeRaw`
    DELETE FROM notification WHERE tenant_id = ${tenantId}::uuid AND ctid = ANY (ARRAY(
      SELECT oldest.place FROM unnest(
        ${notified.map(({ userId }) => userId)}::text[], ${notified.map(({ sequence }) => sequence)}::bigint[]
      ) AS of_user (user_id, newest)
      CROSS JOIN LATERAL (
        SELECT ctid AS place FROM notification AS earlier WHERE earlier.tenant_id = ${tenantId}::uuid
          AND earlier.user_id = of_user.user_id AND earlier.sequence < of_user.newest
        ORDER BY sequence LIMIT 1
      ) AS oldest))`;
}

/** Removes what is older than the newest notifications of these users, of some with each notification. */
async function removeOldNotifications(
  tx: Tx,
  tenantId: string,
  notified: readonly Notified[],
): Promise<void> {
  const due = notified.filter(
    ({ sequence }) => sequence > NOTIFICATIONS_KEPT && sequence % BigInt(REMOVED_TOGETHER) === 0n,
  );
  if (due.length === 0) return;
  // For each user by their own index range (OFFSET), and then by place, however many users and notifications there are.
  await tx.$executeRaw`
    DELETE FROM notification WHERE tenant_id = ${tenantId}::uuid AND ctid = ANY (ARRAY(
      SELECT old.place FROM unnest(
        ${due.map(({ userId }) => userId)}::text[],
        ${due.map(({ sequence }) => sequence - BigInt(NOTIFICATIONS_KEPT))}::bigint[]
      ) AS of_user (user_id, last_removed)
      CROSS JOIN LATERAL (
        SELECT ctid AS place FROM notification AS earlier WHERE earlier.tenant_id = ${tenantId}::uuid
          AND earlier.user_id = of_user.user_id AND earlier.sequence <= of_user.last_removed OFFSET 0
      ) AS old))`;
}

/**
 * Adds what they are about, of one that was removed meanwhile nothing. Each entry is read by its key, and of its body
 * only the beginning: Prisma would read whole ones, and look for them among all entries of the tenant (ADR 0022).
 */
async function withEntries(
  tx: Tx,
  tenantId: string,
  rows: readonly Prisma.NotificationModel[],
): Promise<StoredNotification[]> {
  if (rows.length === 0) return [];
  const entries = await tx.$queryRaw<(EntryOfNotification & Parameters<typeof messageOf>[0])[]>`
    SELECT entry.* FROM unnest(${rows.map(({ entryId }) => entryId)}::uuid[]) AS wanted (id)
    CROSS JOIN LATERAL (
      SELECT id, entity_type AS "entityType", entity_id AS "entityId", entry_type AS "entryType",
        author_id AS "authorId", author_display_name AS "authorDisplayName",
        left(body, ${EXCERPT_SOURCE_LENGTH}::integer) AS body, message_key AS "messageKey",
        message_values AS "messageValues"
      FROM entry WHERE tenant_id = ${tenantId}::uuid AND id = wanted.id LIMIT 1
    ) AS entry`;
  const entryById = new Map(entries.map((entry) => [entry.id, entry]));
  return rows.flatMap(({ id, sequence, kind, createdAt, readAt, entryId }) => {
    const entry = entryById.get(entryId);
    if (!entry) return [];
    const body = headOf(entry.body, EXCERPT_SOURCE_LENGTH);
    return {
      id,
      sequence,
      kind: kind as NotificationKind,
      createdAt,
      readAt,
      entry: { ...entry, body, message: messageOf(entry) },
    };
  });
}
