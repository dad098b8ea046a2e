import type { entityGone } from '@plinth/contracts/workflow/events';
import type { DeliveredEvent, PayloadOf } from '@plinth/kernel/event';
import type { Prisma } from '../generated/client';

type EntityGoneEvent = DeliveredEvent<PayloadOf<ReturnType<typeof entityGone>>>;

/** Each is found by the whole key of its entity, and locked in one order. */
const REQUIRE_VERIFICATION = `
  WITH concerned AS (
    SELECT entity.approval_id FROM unnest($3::text[]) AS gone (entity_id) CROSS JOIN LATERAL (
      SELECT approval_id FROM entity
      WHERE tenant_id = $1::uuid AND entity_type = $2 AND entity_id = gone.entity_id LIMIT 1
    ) AS entity WHERE entity.approval_id IS NOT NULL
  )
  UPDATE approval SET verify_at = date_trunc('milliseconds', now())
  FROM (SELECT locked.id FROM concerned CROSS JOIN LATERAL (
      SELECT id FROM approval WHERE tenant_id = $1::uuid AND id = concerned.approval_id LIMIT 1
    ) AS locked ORDER BY locked.id) AS found
  WHERE approval.tenant_id = $1::uuid AND approval.id = found.id AND approval.ended_at IS NULL`;

/**
 * Has open requests for approval verified, since their entity may be gone. Whether it is, or was made again meanwhile,
 * its owner is asked outside of this transaction: the request ends then as a decision would end it (`Verifications`).
 */
export async function requireVerification(
  tx: Prisma.TransactionClient,
  { tenantId, payload: { entityType, entityIds } }: EntityGoneEvent,
): Promise<void> {
  await tx.$executeRawUnsafe(REQUIRE_VERIFICATION, tenantId, entityType, entityIds);
}
