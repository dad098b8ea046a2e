import { NotificationKind } from '@plinth/contracts/timeline/shapes';
import { toAfter, toOrderBy } from '@plinth/conventions/prisma-list';
import type { ListRequest } from '@plinth/conventions/paging';
import type { Caller } from '@plinth/kernel/caller';
import type { Clock } from '@plinth/kernel/clock';
import { newId } from '@plinth/kernel/uuid';
import type { TenantDatabase } from '@plinth/runtime/postgres';
import { audienceOf } from '../domain/audience';
import type { Entry } from '../domain/entry';
import { EXCERPT_SOURCE_LENGTH } from '../domain/excerpt';
import { findMentions, mentionedUserIds } from '../domain/mention';
import type { Prisma } from '../generated/client';
import { messageOf } from './entry-store';
import { visibleTo } from './visibility';

type Tx = Prisma.TransactionClient;

const withEntry = { entry: true } as const;
type NotificationRow = Prisma.NotificationGetPayload<{ include: typeof withEntry }>;

/** What somebody was told, with the entry that it is about. */
export interface Notified {
  id: string;
  sequence: bigint;
  kind: NotificationKind;
  createdAt: Date;
  readAt: Date | null;
  /** Of the body only as much as an excerpt needs. */
  entry: Pick<
    Entry,
    'id' | 'entityType' | 'entityId' | 'authorId' | 'authorDisplayName' | 'body' | 'message'
  >;
}

export interface NotificationStore {
  list(caller: Caller, list: ListRequest): Promise<{ rows: Notified[]; totalCount: number | null }>;
  unreadCount(caller: Caller): Promise<number>;
  /** Answers false when this person has no such notification. */
  markRead(caller: Caller, id: string): Promise<boolean>;
  markAllRead(caller: Caller): Promise<void>;
  /** Where this person's stream stands: after the notification of this id, or after the newest one. */
  positionOf(caller: Caller, lastId: string | undefined): Promise<bigint>;
  /** What this person was told after a position, oldest first. */
  since(caller: Caller, position: bigint, limit: number): Promise<Notified[]>;
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
        const selection = {
          ...mine(caller),
          ...(list.quickFilters.includes('unread') ? { readAt: null } : {}),
        };
        const rows = await tx.notification.findMany({
          where: { ...selection, ...(list.after ? toAfter(list.sort, list.after, ['createdAt']) : {}) },
          include: withEntry,
          orderBy: toOrderBy(list.sort),
          take: list.limit,
          skip: list.offset,
        });
        return {
          rows: rows.map(toNotified),
          totalCount: list.wantsTotalCount ? await tx.notification.count({ where: selection }) : null,
        };
      }),

    unreadCount: (caller) =>
      db.inTenant(caller.tenantId, (tx) =>
        tx.notification.count({ where: { ...mine(caller), readAt: null } }),
      ),

    markRead: (caller, id) =>
      db.inTenant(caller.tenantId, async (tx) => {
        const where = { ...mine(caller), id };
        await tx.notification.updateMany({
          where: { ...where, readAt: null },
          data: { readAt: clock.now() },
        });
        return (await tx.notification.count({ where })) > 0;
      }),

    async markAllRead(caller) {
      const where = { ...mine(caller), readAt: null };
      await db.inTenant(caller.tenantId, (tx) =>
        tx.notification.updateMany({ where, data: { readAt: clock.now() } }),
      );
    },

    positionOf: (caller, lastId) =>
      db.inTenant(caller.tenantId, async (tx) => {
        const { tenantId, userId } = caller;
        const last = lastId && (await tx.notification.findFirst({ where: { tenantId, userId, id: lastId } }));
        if (last) return last.sequence;
        // It went with its entry; its id still tells when it was made.
        const before = lastId ? { createdAt: { lte: timeOf(lastId) } } : {};
        const newest = await tx.notification.aggregate({
          where: { tenantId, userId, ...before },
          _max: { sequence: true },
        });
        return newest._max.sequence ?? 0n;
      }),

    since: (caller, position, limit) =>
      db.inTenant(caller.tenantId, async (tx) => {
        const rows = await tx.notification.findMany({
          where: { ...mine(caller), sequence: { gt: position } },
          include: withEntry,
          orderBy: { sequence: 'asc' },
          take: limit,
        });
        return rows.map(toNotified);
      }),
  };
}

const mine = (caller: Caller) => ({
  tenantId: caller.tenantId,
  userId: caller.userId,
  ...visibleTo(audienceOf(caller)),
});

/** The instant in a UUID version 7. */
const timeOf = (id: string): Date => new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16));

interface Recipient {
  userId: string;
  kind: NotificationKind;
  internal: boolean;
}

/**
 * Tells whom a new entry concerns: who is mentioned, and who follows. Everybody once, and nobody of their own.
 * Who may not see the entry is told too, but sees that as little as the entry. Answers who was told.
 */
export async function notify(tx: Tx, tenantId: string, entryId: string, at: Date): Promise<string[]> {
  const entry = await tx.entry.findFirst({ where: { tenantId, id: entryId } });
  if (!entry) return [];
  const { entityType, entityId, internal, authorId, createdAt } = entry;
  const mentioned = mentionedUserIds(findMentions(entry.body));
  const followers = await tx.follower.findMany({
    // Who began to follow later is not told of what was said before.
    where: { tenantId, entityType, entityId, since: { lte: createdAt } },
  });
  const recipients: Recipient[] = [
    ...mentioned.map((userId) => ({ userId, kind: NotificationKind.Mention, internal })),
    ...followers
      .filter(({ userId }) => !mentioned.includes(userId))
      .map((follower) => ({
        userId: follower.userId,
        kind: NotificationKind.Entry,
        internal: internal || follower.internal,
      })),
  ].filter(({ userId }) => userId !== authorId);
  return insertNotifications(tx, tenantId, entryId, recipients, at);
}

async function insertNotifications(
  tx: Tx,
  tenantId: string,
  entryId: string,
  recipients: readonly Recipient[],
  at: Date,
): Promise<string[]> {
  if (recipients.length === 0) return [];
  // Counters are taken in the order of the user ids, so that two tellers never wait for each other in a circle.
  const told = await tx.$queryRaw<{ userId: string }[]>`
    WITH recipient AS (
      SELECT * FROM unnest(
        ${recipients.map(({ userId }) => userId)}::text[], ${recipients.map(() => newId())}::uuid[],
        ${recipients.map(({ kind }) => kind)}::text[], ${recipients.map(({ internal }) => internal)}::boolean[]
      ) AS recipient (user_id, id, kind, internal)
      WHERE NOT EXISTS (SELECT FROM notification AS earlier WHERE earlier.tenant_id = ${tenantId}::uuid
        AND earlier.entry_id = ${entryId}::uuid AND earlier.user_id = recipient.user_id)
    ), numbered AS (
      INSERT INTO notification_count AS count (tenant_id, user_id, last_sequence)
      SELECT ${tenantId}::uuid, user_id, 1 FROM recipient ORDER BY user_id
      ON CONFLICT (tenant_id, user_id) DO UPDATE SET last_sequence = count.last_sequence + 1
      RETURNING user_id, last_sequence
    )
    INSERT INTO notification (tenant_id, id, user_id, sequence, kind, internal, entry_id, created_at)
    SELECT ${tenantId}::uuid, id, user_id, last_sequence, kind, internal, ${entryId}::uuid, ${at}
    FROM recipient JOIN numbered USING (user_id)
    ON CONFLICT (tenant_id, entry_id, user_id) DO NOTHING
    RETURNING user_id AS "userId"`;
  return told.map(({ userId }) => userId);
}

const toNotified = ({ id, sequence, kind, createdAt, readAt, entry }: NotificationRow): Notified => ({
  id,
  sequence,
  kind: kind as NotificationKind,
  createdAt,
  readAt,
  entry: { ...entry, body: entry.body.slice(0, EXCERPT_SOURCE_LENGTH), message: messageOf(entry) },
});
