import { FOLLOWERS_OF_ENTITY_MAX } from '@plinth/contracts/timeline/shapes';
import type { RowQuota } from '@plinth/http/row-quota';
import type { Clock } from '@plinth/kernel/clock';
import type { TenantDatabase } from '@plinth/runtime/postgres/postgres';
import { raw, send, sql, type Sql } from '@plinth/runtime/postgres/raw-statements';
import { runOnce, type Operation } from '@plinth/runtime/postgres/run-once';
import type { Audience } from '../domain/audience';
import type { EntityName } from '../domain/entry';
import type { Prisma } from '../generated/client';
import { tooManyFollowers } from '../domain/problems';
import { visibleSql } from './visibility';

type Tx = Prisma.TransactionClient;

export interface FollowerStore {
  /**
   * Makes somebody follow an entity, once per operation: a retry changes nothing where they unfollowed it since.
   * @throws Problem `quota-exceeded` for somebody who does not follow it yet
   */
  follow(operation: Operation, entity: EntityName, userId: string): Promise<void>;
  /** Ends that, once per operation. */
  unfollow(operation: Operation, entity: EntityName, userId: string): Promise<void>;
  /** The user ids of the followers, longest first, as far as they are in the directory. */
  list(audience: Audience, entity: EntityName): Promise<string[]>;
}

/** A condition of all followers, by which Postgres counts those of a tenant in a narrow index (`follower_of_tenant`). */
export const EACH_FOLLOWER = "since > '-infinity'";

interface Parts {
  db: TenantDatabase<Tx>;
  clock: Clock;
  quota: Pick<RowQuota, 'take'>;
}

export function followerStore({ db, clock, quota }: Parts): FollowerStore {
  return {
    async follow(operation, entity, userId) {
      const { tenantId } = operation;
      const following = { internal: false, byMention: false, since: clock.now() };
      const statement = insertFollowers(tenantId, entity, [userId], following);
      await db.inTenant(
        tenantId,
        (tx) =>
          runOnce(tx, operation, async () => {
            const [written] = await tx.$queryRaw<{ isNew: boolean }[]>(statement);
            if (written?.isNew) quota.take(tenantId);
            // Nothing is written either where they follow it already.
            if (!written && (await tx.follower.count({ where: { tenantId, ...entity, userId } })) === 0)
              throw tooManyFollowers(FOLLOWERS_OF_ENTITY_MAX);
          }),
        'once',
      );
    },

    async unfollow(operation, { entityType, entityId }, userId) {
      const { tenantId } = operation;
      const where = { tenantId, entityType, entityId, userId };
      await db.inTenant(tenantId, (tx) =>
        runOnce(tx, operation, async () => void (await tx.follower.deleteMany({ where }))),
      );
    },

    list: (audience, { entityType, entityId }) =>
      db.inTenant(audience.tenantId, async (tx) => {
        const { tenantId } = audience;
        const followers = await tx.$queryRaw<{ userId: string }[]>(sql`
          SELECT user_id AS "userId" FROM follower
          WHERE tenant_id = ${tenantId}::uuid AND entity_type = ${entityType} AND entity_id = ${entityId}
            AND ${raw(visibleSql(audience) ?? 'true')}
            AND EXISTS (SELECT FROM person
              WHERE person.tenant_id = ${tenantId}::uuid AND person.user_id = follower.user_id OFFSET 0)
          ORDER BY since, user_id LIMIT ${FOLLOWERS_OF_ENTITY_MAX}`);
        return followers.map(({ userId }) => userId);
      }),
  };
}

/**
 * Makes people whom an entry mentions follow its entity, as far as that may have more followers. `internal` means that
 * they do so only because a note mentions them: until they follow for another reason as well, only readers of notes see
 * that they follow.
 */
export async function addFollowers(
  tx: Tx,
  tenantId: string,
  entity: EntityName,
  userIds: readonly string[],
  following: Omit<Following, 'byMention'>,
): Promise<void> {
  if (userIds.length > 0)
    await send(tx, insertFollowers(tenantId, entity, userIds, { ...following, byMention: true }));
}

/** Whether anybody but the author of an entry follows its entity, as a condition of a statement. */
export const isFollowedByOthers = (
  tenantId: string,
  { entityType, entityId, authorId }: EntityName & { authorId: string },
): Sql => sql`
  EXISTS (SELECT FROM follower WHERE tenant_id = ${tenantId}::uuid AND entity_type = ${entityType}
    AND entity_id = ${entityId} AND user_id <> ${authorId})`;

interface Following {
  internal: boolean;
  /** Whether they do so only because an entry mentions them: they may not exist. */
  byMention: boolean;
  since: Date;
}

function insertFollowers(
  tenantId: string,
  { entityType, entityId }: EntityName,
  userIds: readonly string[],
  { internal, byMention, since }: Following,
): Sql {
  // In the order of the key, so that two writers never wait for each other in a circle.
  const sorted = [...userIds].sort();
  return sql`
    INSERT INTO follower (tenant_id, entity_type, entity_id, user_id, internal, by_mention, since)
    SELECT ${tenantId}::uuid, ${entityType}, ${entityId}, wanted.user_id, ${internal}, ${byMention}, ${since}
    FROM unnest(${sorted}::text[]) AS wanted (user_id)
    WHERE (SELECT count(*) FROM (SELECT FROM follower WHERE tenant_id = ${tenantId}::uuid
        AND entity_type = ${entityType} AND entity_id = ${entityId} LIMIT ${FOLLOWERS_OF_ENTITY_MAX}) AS present)
        < ${FOLLOWERS_OF_ENTITY_MAX}
      OR EXISTS (SELECT FROM follower WHERE tenant_id = ${tenantId}::uuid AND entity_type = ${entityType}
        AND entity_id = ${entityId} AND follower.user_id = wanted.user_id)
    ON CONFLICT (tenant_id, entity_type, entity_id, user_id) DO UPDATE
    SET internal = follower.internal AND excluded.internal, by_mention = follower.by_mention AND excluded.by_mention
    WHERE (follower.internal AND NOT excluded.internal) OR (follower.by_mention AND NOT excluded.by_mention)
    RETURNING (xmax = 0) AS "isNew"`;
}
