import { send, sql } from '@plinth/runtime/postgres/raw-statements';
import type { Prisma } from '../generated/client';

type Tx = Prisma.TransactionClient;

/**
 * Keeps anybody from being notified of an entry until it is removed, and returns those who were and never called in the
 * tenant: anybody can mention very many people who do not exist.
 */
export async function lockStrangersNotifiedOf(tx: Tx, tenantId: string, entryId: string): Promise<string[]> {
  const ofEntry = sql`tenant_id = ${tenantId}::uuid AND id BETWEEN ${entryId}::uuid AND ${entryId}::uuid`;
  await send(tx, sql`SELECT FROM entry WHERE ${ofEntry} ORDER BY id FOR UPDATE`);
  const strangers = await tx.$queryRaw<{ userId: string }[]>`
    SELECT user_id AS "userId" FROM notification WHERE tenant_id = ${tenantId}::uuid AND entry_id = ${entryId}::uuid
      AND NOT EXISTS (SELECT FROM person WHERE person.tenant_id = notification.tenant_id
        AND person.user_id = notification.user_id OFFSET 0)`;
  return strangers.map(({ userId }) => userId);
}

/**
 * Removes what counted the notifications of these people where they have none any more. If they are told of something
 * again, their count begins above all that it was before (see `insertNotifications`).
 */
export async function removeCountsOfStrangers(
  tx: Tx,
  tenantId: string,
  userIds: readonly string[],
): Promise<void> {
  if (userIds.length === 0) return;
  // Locked in the order in which notifications lock them; the next statement sees what was written before the lock.
  await send(
    tx,
    sql`
      SELECT FROM notification_count WHERE tenant_id = ${tenantId}::uuid AND user_id = ANY(${userIds}::text[])
      ORDER BY user_id FOR UPDATE`,
  );
  await tx.$executeRaw`
    DELETE FROM notification_count AS count WHERE tenant_id = ${tenantId}::uuid AND user_id = ANY(${userIds}::text[])
      AND NOT EXISTS (SELECT FROM notification WHERE notification.tenant_id = count.tenant_id
        AND notification.user_id = count.user_id OFFSET 0)`;
}
