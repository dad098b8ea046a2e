import type { entityGone } from '@plinth/contracts/workflow/events';
import type { DeliveredEvent, PayloadOf } from '@plinth/kernel/event';
import type { Prisma } from '../generated/client';

type EntityGoneEvent = DeliveredEvent<PayloadOf<ReturnType<typeof entityGone>>>;

/** Each is found by the whole key of its entity, and locked in one order. */
const LOCK_REQUESTS = `
  SELECT locked.place FROM (
    SELECT entity.approval_id FROM unnest($3::text[]) AS gone (entity_id) CROSS JOIN LATERAL (
      SELECT approval_id FROM entity
      WHERE tenant_id = $1::uuid AND entity_type = $2 AND entity_id = gone.entity_id LIMIT 1
    ) AS entity WHERE entity.approval_id IS NOT NULL ORDER BY entity.approval_id
  ) AS concerned CROSS JOIN LATERAL (
    SELECT ctid::text AS place FROM approval
    WHERE tenant_id = $1::uuid AND id = concerned.approval_id LIMIT 1 FOR NO KEY UPDATE
  ) AS locked`;

/**
 * By their places alone: joined to their ids, all requests of a tenant that statistics do not know yet would be compared
 * with all of the event. Row-level security keeps it in the tenant.
 */
const REQUIRE_VERIFICATION = `
  UPDATE approval SET verify_at = date_trunc('milliseconds', now())
  WHERE ctid = ANY($1::tid[]) AND ended_at IS NULL`;

/**
 * Has open requests for approval verified, since their entity may be gone. Whether it is, or was made again meanwhile,
 * its owner is asked outside of this transaction: the request ends then as a decision would end it (`Verifications`).
 */
export async function requireVerification(
  tx: Prisma.TransactionClient,
  { tenantId, payload: { entityType, entityIds } }: EntityGoneEvent,
): Promise<void> {
  const locked = await tx.$queryRawUnsafe<{ place: string }[]>(
    LOCK_REQUESTS,
    tenantId,
    entityType,
    entityIds,
  );
  if (locked.length === 0) return;
  await tx.$executeRawUnsafe(
    REQUIRE_VERIFICATION,
    locked.map(({ place }) => place),
  );
}
